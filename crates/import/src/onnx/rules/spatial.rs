//! Operators on images: convolutions, pools, resizing, padding.

use super::super::fact::{Dims, Fact, elem};
use super::super::size::{Size, Sizes};
use super::{INDEX, View, axis};

pub(super) fn apply(view: &mut View<'_, '_>) -> Option<Vec<Fact>> {
    let one = |fact: Fact| Some(vec![fact]);
    match view.op() {
        "Conv" | "DeformConv" => {
            let dims = conv(view, 0, 1);
            one(view.like(0, dims))
        }
        "ConvInteger" => {
            let dims = conv(view, 0, 1);
            one(Fact::tensor(elem::I32, dims))
        }
        "QLinearConv" => {
            let dims = conv(view, 0, 3);
            one(Fact::tensor(view.elem(7), dims))
        }
        "ConvTranspose" => {
            let dims = transposed(view);
            one(view.like(0, dims))
        }
        "MaxPool" | "AveragePool" | "LpPool" => {
            let dims = pool(view);
            Some(vec![view.like(0, dims.clone()), Fact::tensor(INDEX, dims)])
        }
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => {
            let ones = |dims: &Dims| {
                dims.iter().enumerate().map(|(at, dim)| if at < 2 { dim.clone() } else { Some(Size::of(1)) }).collect()
            };
            one(view.like(0, view.dims(0).map(ones)))
        }
        "Resize" | "Upsample" => {
            let dims = resized(view);
            one(view.like(0, dims))
        }
        "Pad" => {
            let dims = padded(view);
            one(view.like(0, dims))
        }
        "DepthToSpace" => {
            let block = view.int("blocksize", 0);
            let dims = blocks(view, |sizes, dims| {
                let area = Size::of(block.checked_mul(block)?);
                let grown = |dim: &Option<Size>| dim.as_ref()?.times(&Size::of(block));
                Some(vec![
                    dims[0].clone(),
                    dims[1].as_ref().and_then(|dim| sizes.over(dim, &area)),
                    grown(&dims[2]),
                    grown(&dims[3]),
                ])
            });
            one(view.like(0, dims))
        }
        "SpaceToDepth" => {
            let block = view.int("blocksize", 0);
            let dims = blocks(view, |sizes, dims| {
                let area = Size::of(block.checked_mul(block)?);
                let mut shrunk = |dim: &Option<Size>| dim.as_ref().and_then(|dim| sizes.over(dim, &Size::of(block)));
                let (rows, columns) = (shrunk(&dims[2]), shrunk(&dims[3]));
                Some(vec![dims[0].clone(), dims[1].as_ref().and_then(|dim| dim.times(&area)), rows, columns])
            });
            one(view.like(0, dims))
        }
        "GridSample" => {
            let dims = view.dims(0).zip(view.dims(1)).and_then(|(image, grid)| {
                let inner = grid.get(1..grid.len().checked_sub(1)?)?;
                Some(image.get(..2)?.iter().chain(inner).cloned().collect())
            });
            one(view.like(0, dims))
        }
        "RoiAlign" => {
            let side = |name| Some(Size::of(view.int(name, 1)));
            let dims = view.dims(0).zip(view.dims(1)).and_then(|(image, rois)| {
                Some(vec![rois.first()?.clone(), image.get(1)?.clone(), side("output_height"), side("output_width")])
            });
            one(view.like(0, dims))
        }
        "MaxRoiPool" => {
            let shape = view.node.ints("pooled_shape").map(<[i64]>::to_vec);
            let dims = view.dims(0).zip(view.dims(1)).zip(shape).and_then(|((image, rois), shape)| {
                let inner = shape.into_iter().map(|size| Some(Size::of(size)));
                Some([rois.first()?.clone(), image.get(1)?.clone()].into_iter().chain(inner).collect())
            });
            one(view.like(0, dims))
        }
        _ => None,
    }
}

/// Windows over the spatial dimensions.
struct Windows {
    kernel: Vec<Option<Size>>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// Before all dimensions, then behind them.
    pads: Vec<i64>,
    /// `SAME_UPPER` and `SAME_LOWER`.
    same: bool,
}

impl Windows {
    fn new(view: &View<'_, '_>, kernel: Vec<Option<Size>>) -> Option<Windows> {
        let rank = kernel.len();
        let list = |name: &str, default: i64, len: usize| match view.node.ints(name) {
            Some(values) if values.len() == len => Some(values.to_vec()),
            Some(_) => None,
            None => Some(vec![default; len]),
        };
        let auto = view.node.text("auto_pad").unwrap_or("NOTSET");
        let pads = if auto == "NOTSET" { list("pads", 0, 2 * rank)? } else { vec![0; 2 * rank] };
        let (strides, dilations) = (list("strides", 1, rank)?, list("dilations", 1, rank)?);
        if strides.iter().chain(&dilations).any(|value| !(1..1 << 32).contains(value)) {
            return None;
        }
        Some(Windows { kernel, strides, dilations, pads, same: auto.starts_with("SAME") })
    }

    /// Elements that a window reaches over in one dimension.
    fn reach(&self, at: usize) -> Option<Size> {
        self.kernel[at].as_ref()?.minus(&Size::of(1))?.times(&Size::of(self.dilations[at]))?.plus(&Size::of(1))
    }

    /// How many windows fit.
    fn fit(&self, sizes: &mut Sizes, at: usize, input: &Size, up: bool) -> Option<Size> {
        let stride = self.strides[at];
        if self.same {
            return sizes.over(&input.plus(&Size::of(stride - 1))?, &Size::of(stride));
        }
        let (low, high) = (self.pads[at], self.pads[self.kernel.len() + at]);
        let room = input.plus(&Size::of(low.checked_add(high)?))?.minus(&self.reach(at)?)?;
        let room = if up { room.plus(&Size::of(stride - 1))? } else { room };
        let fit = sizes.over(&room, &Size::of(stride))?.plus(&Size::of(1))?;
        // A window that would begin in the padding behind is none (ONNX Runtime, `ComputeOutputSize`).
        match (up, fit.known(), input.known()) {
            (true, Some(count), Some(input)) if (count - 1).checked_mul(stride)? >= input.checked_add(low)? => {
                Some(Size::of(count - 1))
            }
            _ => Some(fit),
        }
    }
}

fn conv(view: &mut View<'_, '_>, image: usize, weights: usize) -> Option<Dims> {
    let (image, weights) = (view.dims(image)?.clone(), view.dims(weights)?.clone());
    let kernel = match view.node.ints("kernel_shape") {
        Some(list) => list.iter().map(|size| Some(Size::of(*size))).collect(),
        None => weights.get(2..)?.to_vec(),
    };
    let windows = Windows::new(view, kernel)?;
    let mut dims = vec![image.first()?.clone(), weights.first()?.clone()];
    over_windows(view.sizes, &windows, image.get(2..)?, false, &mut dims)?;
    Some(dims)
}

fn pool(view: &mut View<'_, '_>) -> Option<Dims> {
    let image = view.dims(0)?.clone();
    let kernel = view.node.ints("kernel_shape")?.iter().map(|size| Some(Size::of(*size))).collect();
    let windows = Windows::new(view, kernel)?;
    let up = view.int("ceil_mode", 0) != 0;
    let mut dims = image.get(..2)?.to_vec();
    over_windows(view.sizes, &windows, image.get(2..)?, up, &mut dims)?;
    Some(dims)
}

fn over_windows(
    sizes: &mut Sizes,
    windows: &Windows,
    inputs: &[Option<Size>],
    up: bool,
    dims: &mut Dims,
) -> Option<()> {
    if inputs.len() != windows.kernel.len() {
        return None;
    }
    for (at, input) in inputs.iter().enumerate() {
        dims.push(input.as_ref().and_then(|input| windows.fit(sizes, at, input, up)));
    }
    Some(())
}

fn transposed(view: &mut View<'_, '_>) -> Option<Dims> {
    let (image, weights) = (view.dims(0)?.clone(), view.dims(1)?.clone());
    let kernel = match view.node.ints("kernel_shape") {
        Some(list) => list.iter().map(|size| Some(Size::of(*size))).collect(),
        None => weights.get(2..)?.to_vec(),
    };
    let windows = Windows::new(view, kernel)?;
    let rank = windows.kernel.len();
    let channels = weights.get(1)?.as_ref().and_then(|dim| dim.times(&Size::of(view.int("group", 1))));
    let mut dims = vec![image.first()?.clone(), channels];
    if let Some(shape) = view.node.ints("output_shape") {
        let shape = if shape.len() == rank + 2 { &shape[2..] } else { shape };
        dims.extend(shape.iter().map(|size| Some(Size::of(*size))));
        return (dims.len() == rank + 2).then_some(dims);
    }
    let extra = view.node.ints("output_padding").map_or(vec![0; rank], <[i64]>::to_vec);
    if image.len() != rank + 2 || extra.len() != rank {
        return None;
    }
    for at in 0..rank {
        let grown = |input: &Size| {
            let stride = Size::of(windows.strides[at]);
            if windows.same {
                return input.times(&stride);
            }
            let pads = windows.pads[at].checked_add(windows.pads[rank + at])?;
            let spread = input.minus(&Size::of(1))?.times(&stride)?.plus(&windows.reach(at)?)?;
            spread.plus(&Size::of(extra[at].checked_sub(pads)?))
        };
        dims.push(image[2 + at].as_ref().and_then(grown));
    }
    Some(dims)
}

fn resized(view: &mut View<'_, '_>) -> Option<Dims> {
    let dims = view.dims(0)?.clone();
    let rank = dims.len();
    if view.node.text("keep_aspect_ratio_policy").is_some_and(|policy| policy != "stretch") {
        return Some(vec![None; rank]);
    }
    let (scales, sizes) = match (view.op(), view.opset) {
        ("Upsample", ..9) => (usize::MAX, usize::MAX),
        ("Upsample", _) | (_, ..11) => (1, usize::MAX),
        _ => (2, 3),
    };
    let axes: Vec<usize> = match view.node.ints("axes") {
        Some(axes) => axes.iter().map(|at| axis(*at, rank)).collect::<Option<_>>()?,
        None => (0..rank).collect(),
    };
    let mut out = dims.clone();
    if view.has(sizes) && view.dims(sizes).is_none_or(|dims| *dims != [Some(Size::of(0))]) {
        let list = view.content(sizes).cloned().unwrap_or_else(|| vec![None; axes.len()]);
        for (at, size) in axes.iter().zip(list) {
            out[*at] = size;
        }
        return Some(out);
    }
    let floats = view.tensor(scales).and_then(|tensor| tensor.floats.clone());
    let listed = view.node.floats("scales").map(|list| list.iter().map(|scale| f64::from(*scale)).collect());
    let Some(list) = floats.or(listed).filter(|list: &Vec<f64>| list.len() == axes.len()) else {
        return Some(vec![None; rank]);
    };
    for (at, scale) in axes.into_iter().zip(list) {
        out[at] = dims[at].as_ref().and_then(|dim| scaled(dim, scale));
    }
    Some(out)
}

fn scaled(dim: &Size, scale: f64) -> Option<Size> {
    if scale.fract() == 0.0 && (1.0..1e9).contains(&scale) {
        return dim.times(&Size::of(scale as i64));
    }
    // As runtimes do, in single precision.
    let product = (dim.known()? as f32 * scale as f32).floor();
    (0.0..1e15).contains(&product).then(|| Size::of(product as i64))
}

fn padded(view: &View<'_, '_>) -> Option<Dims> {
    let dims = view.dims(0)?;
    let unknown = || Some(vec![None; dims.len()]);
    let pads: Dims = match (view.node.ints("pads").or_else(|| view.node.ints("paddings")), view.content(1)) {
        (Some(list), _) => list.iter().map(|pad| Some(Size::of(*pad))).collect(),
        (None, Some(list)) => list.clone(),
        (None, None) => return unknown(),
    };
    let axes: Vec<usize> = if view.has(3) {
        let Some(axes) = view.known(3) else { return unknown() };
        axes.iter().map(|at| axis(*at, dims.len())).collect::<Option<_>>()?
    } else {
        (0..dims.len()).collect()
    };
    if pads.len() != 2 * axes.len() {
        return unknown();
    }
    let mut out = dims.clone();
    for (index, at) in axes.iter().enumerate() {
        let grown = |dim: &Size| dim.plus(pads[index].as_ref()?)?.plus(pads[axes.len() + index].as_ref()?);
        out[*at] = dims[*at].as_ref().and_then(grown);
    }
    Some(out)
}

fn blocks(view: &mut View<'_, '_>, of: impl FnOnce(&mut Sizes, &Dims) -> Option<Dims>) -> Option<Dims> {
    let dims = view.dims(0)?.clone();
    let block = view.int("blocksize", 0);
    if dims.len() == 4 && (1..1 << 16).contains(&block) { of(view.sizes, &dims) } else { None }
}
