//! One row of the table of op facts: what passes and the checker may know about an op.
//!
//! A row speaks about *data* operands and results, counted from 0; tokens come after them and are
//! not counted. What a row does not say is read in the conservative way: an absent effect entry
//! means "may do anything", an absent in-place entry means "never", an absent view entry means
//! "the result has bytes of its own".
//!
//! Nothing here knows the shapes, types and attributes of a particular op: a fact is a permission
//! under a stated condition, and whoever uses it checks the condition on the op at hand.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// Declares an enum whose variants have one spelling each, in tables and in messages.
macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The spelling used in tables.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }

            /// The variant with this spelling.
            #[must_use]
            pub fn from_name(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

spelled! {
    /// What an op does, as far as memory is concerned. The parameters that a role needs (an axis,
    /// a permutation) are in [`OpFacts::params`].
    Role {
        /// Result element `i` is a function of element `i` of the per-element operands (see
        /// [`OpFacts::per_element`]), which broadcast as in NumPy, and of the other operands
        /// as wholes.
        Elementwise = "elementwise",
        /// The same elements in the same row-major order under another shape or type: reshape,
        /// squeeze, expand_dims, flatten, bitcast, identity.
        Reshape = "reshape",
        /// A permutation of the dimensions (`perm`).
        Transpose = "transpose",
        /// A box out of the operand, unit strides (`start`, `size` or `end`).
        Slice = "slice",
        /// A box with strides and perhaps masks (`start`, `end`, `stride`, `begin_mask`, ..).
        StridedSlice = "strided_slice",
        /// Operands joined along `axis`.
        Concat = "concat",
        /// Operands of equal shape joined along a new `axis`.
        Pack = "pack",
        /// The operand cut along `axis` into its results (`sizes`, or equal parts).
        Split = "split",
        /// The operand cut along `axis` into results without that axis.
        Unpack = "unpack",
        /// The operand surrounded by a value.
        Pad = "pad",
        /// Elements repeated along dimensions.
        Broadcast = "broadcast",
        /// Rows picked by an index operand along `axis`.
        Gather = "gather",
        /// The first operand with some elements replaced by those of an update operand.
        UpdateSlice = "update_slice",
        /// Dimensions reduced (`axes`).
        Reduce = "reduce",
        /// Every line along `axis` (the last, if not given) is a function of the same line of
        /// operand 0: softmax, log-softmax, L2 and layer normalisation.
        Softmax = "softmax",
        /// Matrix product, fully connected, einsum.
        Matmul = "matmul",
        /// Convolution of any kind.
        Conv = "conv",
        /// Pooling over windows.
        Pool = "pool",
        /// Interpolation to another spatial size.
        Resize = "resize",
        /// To a quantized type, element by element.
        Quantize = "quantize",
        /// From a quantized type, element by element.
        Dequantize = "dequantize",
        /// The result has the bytes of operand 0, in memory of its own.
        Copy = "copy",
        /// A value known before the run (`value`); resident, never in the arena.
        Constant = "constant",
        /// Names a variable (`container`, `shared_name`); the result takes no arena bytes.
        Handle = "handle",
        /// The result is the present content of a variable.
        Read = "read",
        /// A variable gets the bytes of a data operand.
        Write = "write",
        /// Draws random numbers.
        Random = "random",
        /// Runs a function or a region once.
        Call = "call",
        /// Runs one of several bodies.
        If = "if",
        /// Runs a body while a condition holds.
        While = "while",
        /// Runs a body a number of times.
        For = "for",
        /// Ends a body and hands its operands to the op around it.
        Yield = "yield",
        /// Starts work that may still touch its operands and results until it is awaited.
        AsyncStart = "async_start",
        /// Ends the work that its operand started.
        AsyncAwait = "async_await",
        /// Makes or joins tokens; no bytes.
        Token = "token",
        /// The result is a fresh buffer.
        Alloc = "alloc",
        /// The operand's buffer ends here.
        Dealloc = "dealloc",
        /// The result is a window of a buffer (memref): the same bytes, also for writes.
        Subview = "subview",
        /// Declares a symbol or a container and computes nothing.
        Declare = "declare",
        /// A pure function of its operands and attributes; nothing else is known.
        Opaque = "opaque",
        /// None of these.
        Other = "other",
    }
}

spelled! {
    /// When the bytes of an operand may be overwritten by a result. In every case the operand
    /// must die at the op, and no other operand may share its bytes unless it has the same
    /// permission over the same extent (`add(a, a)`).
    Rule {
        /// Result element `i` depends on element `i` of this operand, and the kernel runs forward
        /// through the elements. Conditions on the op: operand and result have the *same shape*
        /// (a broadcast operand is read again later) and a dense row-major layout; a result
        /// element is not larger than an operand element. The bits need not keep their type.
        Lockstep = "lockstep",
        /// The result may lie on exactly the operand's bytes: same type, same number of bytes,
        /// same start; the kernel is stated to allow it.
        Exact = "exact",
        /// Line `r` of the result depends on line `r` of the operand only, and once the kernel has
        /// written an element it reads the one below it no more (softmax; not a normalisation over
        /// a sliding window). Conditions: same shape and element size.
        Rows = "rows",
    }
}

spelled! {
    /// Whether an effect reads or writes its resource.
    Access {
        /// Two reads need no order between them.
        Read = "read",
        /// Ordered with every other access of the resource.
        Write = "write",
    }
}

/// What an effect touches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// The random number generator.
    Rng,
    /// The outside world: printing, files, network.
    Io,
    /// Statistics that are kept from run to run (calibration, running means).
    Stats,
    /// Anything at all; conflicts with every resource.
    All,
    /// The variable that this attribute names, as a symbol or as a string.
    Attr(String),
    /// The variable behind this data operand: the one that its defining op of role `handle`
    /// names; if there is none, the operand's own root value stands for the variable.
    Handle(usize),
    /// The buffer behind this data operand. Says nothing of operands of tensor type: tensors are
    /// values and cannot be written.
    Memory(usize),
    /// The buffers behind the destination operands of a destination-passing op: the second
    /// segment of `operandSegmentSizes`. As for `Memory`, tensors do not count.
    Outs,
}

/// One effect of an op.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Effect {
    /// Read or write.
    pub access: Access,
    /// What is touched.
    pub resource: Resource,
}

/// A set of positions of operands or results: indices and ranges, of which one may be open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Indices(Vec<Range<usize>>);

impl Indices {
    /// No position.
    pub const NONE: Indices = Indices(Vec::new());

    /// The position `index` alone.
    #[must_use]
    pub fn one(index: usize) -> Indices {
        Indices(std::iter::once(index..index.saturating_add(1)).collect())
    }

    /// The positions of these half-open ranges; `usize::MAX` as an end means "to the last".
    #[must_use]
    pub fn new(ranges: Vec<Range<usize>>) -> Indices {
        Indices(ranges)
    }

    /// Whether `index` is one of them.
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        self.0.iter().any(|range| range.contains(&index))
    }

    /// Whether there is no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The positions below `count`, ascending, each once.
    pub fn below(&self, count: usize) -> impl Iterator<Item = usize> + '_ {
        (0..count).filter(|&index| self.contains(index))
    }

    /// The one at `place` of the positions below `count`.
    #[must_use]
    pub fn nth_below(&self, count: usize, place: usize) -> Option<usize> {
        match &self.0[..] {
            [range] => range.start.checked_add(place).filter(|at| *at < range.end.min(count)),
            _ => self.below(count).nth(place),
        }
    }
}

/// Permission for a result to overwrite an operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InPlace {
    /// The data result.
    pub result: usize,
    /// The data operands, any one of which it may overwrite.
    pub operands: Indices,
    /// Under which rule.
    pub rule: Rule,
}

/// Which operand a view lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewOf {
    /// This data operand.
    At(usize),
    /// The data operand at the result's own position.
    Same,
}

/// Results that lie inside an operand: no bytes and no step of their own.
///
/// The byte offset follows from the role: 0 for reshape and its kin; for slice and split it is
/// computed from the parameters, and the view holds only where the result's elements are
/// consecutive in the operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The data results.
    pub results: Indices,
    /// The operand they lie in.
    pub operand: ViewOf,
    /// True where sharing is part of the op's meaning (`memref.subview`), so that the result must
    /// never get bytes of its own; false where it only saves a copy.
    pub must: bool,
}

spelled! {
    /// A parameter of a role. Axes may be negative: they count from the end.
    Key {
        /// One dimension.
        Axis = "axis",
        /// Several dimensions; all of them if not given.
        Axes = "axes",
        /// Number of leading dimensions that a gather treats as a batch.
        BatchDims = "batch_dims",
        /// Result dimension `i` is operand dimension `perm[i]`; reversed if not given.
        Perm = "perm",
        /// First element per dimension (or per entry of `axes`). Negative counts from the end.
        Start = "start",
        /// Number of elements per dimension; -1 means all that follow.
        Size = "size",
        /// One past the last element per dimension, clamped. Negative counts from the end.
        End = "end",
        /// Step per dimension; 1 if not given.
        Stride = "stride",
        /// Bit `i` set: ignore `start[i]`.
        BeginMask = "begin_mask",
        /// Bit `i` set: ignore `end[i]`.
        EndMask = "end_mask",
        /// Bit `i` set: entry `i` stands for as many whole dimensions as are left.
        EllipsisMask = "ellipsis_mask",
        /// Bit `i` set: entry `i` inserts a dimension of size 1.
        NewAxisMask = "new_axis_mask",
        /// Bit `i` set: entry `i` picks one element and drops the dimension.
        ShrinkAxisMask = "shrink_axis_mask",
        /// True: `end` counts from `start`.
        EndIsOffset = "end_is_offset",
        /// Padding as `[before 0, after 0, before 1, after 1, ..]`.
        PadPairs = "pad_pairs",
        /// Padding as `[before 0, before 1, .., after 0, after 1, ..]`.
        PadHalves = "pad_halves",
        /// Padding before each dimension.
        PadLow = "pad_low",
        /// Padding after each dimension.
        PadHigh = "pad_high",
        /// Padding between elements of each dimension.
        PadInterior = "pad_interior",
        /// How padding is filled: `constant` if not given.
        Mode = "mode",
        /// The content of a constant, or the value that padding is filled with.
        Value = "value",
        /// Sizes of the parts of a split; equal parts if not given.
        Sizes = "sizes",
        /// Whether a reduction keeps its dimensions with size 1.
        KeepDims = "keep_dims",
        /// Dimensions of the result that the operand's dimensions become, for a broadcast that
        /// names them; aligned at the end if not given.
        Dims = "dims",
        /// The operand that is moved, when it is not operand 0.
        Data = "data",
        /// First part of the name of a variable.
        Container = "container",
        /// Second part of the name of a variable.
        SharedName = "shared_name",
        /// Unit attribute that turns a read into a view of the variable.
        Alias = "alias",
    }
}

/// Where a parameter is found: the operand if the op has it, else the attribute if the op has it,
/// else the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Param {
    /// A data operand; the value is known only if a constant defines it.
    pub operand: Option<usize>,
    /// An attribute.
    pub attr: Option<String>,
    /// The value if neither is there.
    pub default: Option<i64>,
}

spelled! {
    /// How the bodies of an op run.
    Run {
        /// The op has no body.
        None = "none",
        /// The body runs once.
        Once = "once",
        /// One of the bodies runs, or none.
        Branch = "branch",
        /// The body runs any number of times; what it uses from outside lives to the loop's end.
        Loop = "loop",
        /// The bodies run at the same time.
        Parallel = "parallel",
        /// The body describes what one kernel computes; its values take no arena bytes and its
        /// ops no steps (`neap.fused`, `linalg.generic`, the scalar body of a reduction).
        Kernel = "kernel",
    }
}

/// The bodies of an op and how values get in and out of them.
///
/// Bodies are the op's regions if it has any; else the functions that the attributes `callees`
/// name. Block argument `lead + k` of a body is bound to the `k`-th operand of `args`; terminator
/// operand `yield_lead + k` becomes result `k`, and in a loop also block argument `lead + k` of the
/// next trip as long as `k` counts an operand of `args`; later results are gathered over all trips.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Body {
    /// How the bodies run.
    pub run: Run,
    /// Attributes that hold a symbol or the name of a function, one per body; for an attribute that
    /// is an array of symbols, each of them is a body.
    pub callees: Vec<String>,
    /// Data operands bound to block arguments.
    pub args: Indices,
    /// Block arguments before the bound ones (induction variables).
    pub lead: usize,
    /// Terminator operands before the results (the condition that `onnx.Loop` yields).
    pub yield_lead: usize,
    /// The body that decides whether a loop goes on; its results are not the op's.
    pub cond: Option<usize>,
    /// The deciding body's terminator hands its operands, after the first, to the other body and
    /// to the results (`scf.while`).
    pub cond_forwards: bool,
    /// How many regions a branch has that has results; any number if not given. Loops have one, or two where one decides.
    pub regions: Option<usize>,
    /// The attribute with one number per region besides the one that runs in all other cases (`cases` of `scf.index_switch`).
    pub cases: Option<String>,
    /// Whether what bodies hand on may have other shapes than what it goes to, from branch to branch and from trip to trip.
    pub reshapes: bool,
}

impl Body {
    /// No body.
    pub const NONE: Body = Body {
        run: Run::None,
        callees: Vec::new(),
        args: Indices::NONE,
        lead: 0,
        yield_lead: 0,
        cond: None,
        cond_forwards: false,
        regions: None,
        cases: None,
        reshapes: false,
    };
}

/// The facts of one op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpFacts {
    /// What the op does.
    pub role: Role,
    /// Its own effects; those of its bodies come on top. Empty: none.
    pub effects: Vec<Effect>,
    /// Which result may overwrite which operand.
    pub inplace: Vec<InPlace>,
    /// Which result lies inside which operand.
    pub views: Vec<View>,
    /// Operands that are shapes, indices or other small arguments of the op's form: they take no
    /// arena bytes and matter only for the shape or place of the data.
    pub shape_operands: Indices,
    /// The parameters of the role.
    pub params: BTreeMap<Key, Param>,
    /// Its bodies.
    pub body: Body,
}

impl OpFacts {
    /// How the regions of an op run that has some. A row that says nothing of them allows anything:
    /// all at the same time, each any number of times.
    pub fn runs(&self) -> Run {
        match self.body.run {
            Run::None => Run::Parallel,
            known => known,
        }
    }

    /// What is known of an op that no table has: it may do anything, and nothing may be shared.
    #[must_use]
    pub fn unknown() -> OpFacts {
        let effect = Effect { access: Access::Write, resource: Resource::All };
        OpFacts { effects: vec![effect], ..OpFacts::pure(Role::Other) }
    }

    /// A row without effects and without any permission to share.
    #[must_use]
    pub fn pure(role: Role) -> OpFacts {
        OpFacts {
            role,
            effects: Vec::new(),
            inplace: Vec::new(),
            views: Vec::new(),
            shape_operands: Indices::NONE,
            params: BTreeMap::new(),
            body: Body::NONE,
        }
    }

    /// Whether the op itself has no effect; its bodies may still have some.
    #[must_use]
    pub fn is_pure(&self) -> bool {
        self.effects.is_empty()
    }

    /// Whether the op may do anything.
    #[must_use]
    pub fn may_do_anything(&self) -> bool {
        let all = |e: &Effect| e.access == Access::Write && e.resource == Resource::All;
        self.effects.iter().any(all)
    }

    /// The rule under which data result `result` may overwrite data operand `operand`.
    #[must_use]
    pub fn inplace_rule(&self, result: usize, operand: usize) -> Option<Rule> {
        let hit = |p: &&InPlace| p.result == result && p.operands.contains(operand);
        self.inplace.iter().find(hit).map(|p| p.rule)
    }

    /// The data operand that data result `result` lies in.
    #[must_use]
    pub fn view_operand(&self, result: usize) -> Option<usize> {
        let view = self.views.iter().find(|view| view.results.contains(result))?;
        Some(match view.operand {
            ViewOf::At(operand) => operand,
            ViewOf::Same => result,
        })
    }

    /// For the roles `elementwise`, `quantize` and `dequantize`: whether data operand `operand` is
    /// read element by element in step with the result. The other operands are read as wholes
    /// (a lookup table, a scalar, per-channel parameters).
    #[must_use]
    pub fn per_element(&self, operand: usize) -> bool {
        self.inplace_rule(0, operand) == Some(Rule::Lockstep)
    }

    /// A parameter of the role.
    #[must_use]
    pub fn param(&self, key: Key) -> Option<&Param> {
        self.params.get(&key)
    }

    /// The data operand that a moving op (slice, split, transpose, ..) moves.
    #[must_use]
    pub fn data_operand(&self) -> usize {
        self.param(Key::Data).and_then(|p| p.operand).unwrap_or(0)
    }
}
