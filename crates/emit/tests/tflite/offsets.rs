//! `OfflineMemoryAllocation`: what is written for all subgraphs, what is refused, and what a reader says of a list that is wrong.

use crate::support::{self, G, O, Opt, T, model};
use flatbuffers::{FlatBufferBuilder, VOffsetT};
use neap_emit::tflite::{Head, Options, write};
use neap_import::read_tflite;
use neap_ir::{Module, OpId, plan};

/// What the tensors of a file need that have an offset.
fn read_offsets(file: &[u8], module: &Module) -> Result<Option<Head>, Vec<neap_ir::diag::Diagnostic>> {
    Ok(neap_emit::tflite::read_offsets(file, module)?.map(|offline| offline.head))
}

const OFFSETS: Options = Options { offsets: true };

/// Subgraph 0: 64 bytes in, a constant of 16, 64 out, and one that runs subgraph 1, which has 64 in and out.
fn two() -> Vec<u8> {
    two_from(64)
}

/// The same with another size of what comes in.
fn two_from(bytes: i32) -> Vec<u8> {
    let main = G {
        name: "main",
        tensors: vec![T("t0", vec![bytes], 9, 0), T("t1", vec![16], 9, 1), T("t2", vec![64], 9, 0)],
        inputs: vec![0],
        outputs: vec![2],
        operators: vec![O(31, vec![0], vec![2], Opt::Ints(16, vec![(0, 1)]))],
        variables: vec![],
    };
    let other = G {
        name: "other",
        tensors: vec![T("u0", vec![bytes], 9, 0), T("u1", vec![64], 9, 0)],
        inputs: vec![0],
        outputs: vec![1],
        operators: vec![O(101, vec![0], vec![1], Opt::None)],
        variables: vec![],
    };
    model(&[main, other], &[vec![], vec![7; 16]])
}

fn ops(module: &Module, func: &str) -> Vec<OpId> {
    let func = module.symbol(func).expect("the function");
    module.block_ops(module.entry(func).expect("a body")).collect()
}

/// The plan t0@0 t2@64, and subgraph 1 behind them with u0@0 u1@64 of its own.
fn planned(source: &Module) -> Module {
    let mut module = source.clone();
    for (func, argument, result) in [("main", 0, 64), ("other", 0, 64)] {
        let op = *ops(&module, func).iter().find(|op| !module.data_results(**op).is_empty()).expect("one");
        let func = module.symbol(func).expect("the function");
        let (offset, offsets) = (module.i64_attr(argument), module.i64s_attr(vec![result]));
        module.set_arg_attr(func, 0, plan::OFFSET, Some(offset));
        module.set_attr(op, plan::OFFSETS, offsets);
    }
    let call = *ops(&module, "main").iter().find(|op| module.op_name(**op) == "tfl.call").expect("the call");
    let at = module.i64_attr(128);
    module.set_attr(call, plan::SCRATCH_OFFSET, at);
    module
}

fn said(errors: Vec<neap_ir::diag::Diagnostic>) -> String {
    errors.into_iter().map(|error| error.message).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_plan_with_other_sizes_than_the_file_is_refused() {
    let plan = planned(&read_tflite(&two()).expect("a good file"));
    let larger = two_from(2112);
    let source = read_tflite(&larger).expect("a good file");
    let errors = write(&larger, &source, &plan, OFFSETS).expect_err("it has other sizes");
    let each = ["subgraph 0, tensor 0 `t0`", "subgraph 1, tensor 0 `u0`"];
    assert_eq!(
        said(errors),
        each.map(|tensor| format!("{tensor}: it has 2112 bytes in the file, 64 in the plan")).join("\n")
    );
}

/// The integers that a file holds, found by their first ones.
fn list(file: &[u8], count: usize) -> Vec<i32> {
    let start: Vec<u8> = [1, 2, count as i32].iter().flat_map(|word: &i32| word.to_le_bytes()).collect();
    let at = file.windows(start.len()).position(|window| window == start).expect("the list is there");
    file[at..at + 4 * (3 + count)]
        .chunks_exact(4)
        .map(|word| i32::from_le_bytes(word.try_into().expect("four")))
        .collect()
}

#[test]
fn all_subgraphs_in_one_list_and_constants_without_a_place() {
    let file = two();
    let source = read_tflite(&file).expect("a good file");
    let out = write(&file, &source, &planned(&source), OFFSETS).unwrap_or_else(|errors| panic!("{}", said(errors)));
    assert_eq!(list(&out, 5), [1, 2, 5, 0, -1, 64, 128, 192]);
    assert!(out.windows(23).any(|window| window == b"OfflineMemoryAllocation"));
    let again = read_tflite(&out).expect("a good file");
    assert_eq!(read_offsets(&out, &again), Ok(Some(Head { tensors: 4, bytes: 256 })));
    assert_eq!(read_offsets(&file, &source), Ok(None));
    // All that was there is there, further back by a multiple of 64.
    let shift = out.len() - file.len();
    assert!(shift.is_multiple_of(64) && out[8 + shift..] == file[8..] && out[4..8] == file[4..8]);
    // A second time, the list takes the place of the first.
    let twice = write(&out, &again, &planned(&again), OFFSETS).unwrap_or_else(|errors| panic!("{}", said(errors)));
    assert_eq!(
        read_offsets(&twice, &read_tflite(&twice).expect("a good file")),
        Ok(Some(Head { tensors: 4, bytes: 256 }))
    );
}

#[test]
fn what_the_runtime_would_not_notice_is_refused() {
    let file = two();
    let source = read_tflite(&file).expect("a good file");
    let refused = |change: &dyn Fn(&mut Module)| {
        let mut planned = planned(&source);
        change(&mut planned);
        said(write(&file, &source, &planned, OFFSETS).expect_err("it is refused"))
    };
    let call =
        |module: &Module| *ops(module, "main").iter().find(|op| module.op_name(**op) == "tfl.call").expect("the call");
    let overlap = refused(&|module| {
        let (op, offsets) = (call(module), module.i64s_attr(vec![48]));
        module.set_attr(op, plan::OFFSETS, offsets);
    });
    assert!(
        overlap.contains("`t0` at 0 and subgraph 0, tensor 2 `t2` at 48 overlap while both are needed"),
        "{overlap}"
    );
    let inside = refused(&|module| {
        let (op, at) = (call(module), module.i64_attr(64));
        module.set_attr(op, plan::SCRATCH_OFFSET, at);
    });
    assert!(inside.contains("`t2` at 64 and subgraph 1, tensor 0 `u0` at 64 overlap"), "{inside}");
    let crooked = refused(&|module| {
        let (op, offsets) = (call(module), module.i64s_attr(vec![72]));
        module.set_attr(op, plan::OFFSETS, offsets);
    });
    assert!(crooked.contains("`t2`: offset 72 is no multiple of 16"), "{crooked}");
}

#[test]
fn an_offset_past_32_bits_is_no_number_of_another_kind() {
    let big = |name| T(name, vec![65_536, 98_304], 9, 0);
    let operators = vec![O(101, vec![0], vec![1], Opt::None)];
    let graph = G {
        name: "main",
        tensors: vec![big("x"), big("y")],
        inputs: vec![0],
        outputs: vec![1],
        operators,
        variables: vec![],
    };
    let file = model(&[graph], &[vec![]]);
    let source = read_tflite(&file).expect("a good file");
    let mut module = source.clone();
    let (func, op) = (module.symbol("main").expect("the function"), ops(&module, "main")[0]);
    let (offset, offsets) = (module.i64_attr(0), module.i64s_attr(vec![6_442_450_944]));
    module.set_arg_attr(func, 0, plan::OFFSET, Some(offset));
    module.set_attr(op, plan::OFFSETS, offsets);
    let said = said(write(&file, &source, &module, OFFSETS).expect_err("it is refused"));
    assert!(said.contains("tensor 1 `y`: offset 6442450944 does not fit into the 32 bits"), "{said}");
}

/// One operator over 64 bytes each, with metadata of these names and integers.
fn with_metadata(entries: &[(&str, &[i32])]) -> Vec<u8> {
    let tensors = vec![T("a", vec![64], 9, 0), T("b", vec![64], 9, 0)];
    let operators = vec![O(101, vec![0], vec![1], Opt::None)];
    let graph = G { name: "main", tensors, inputs: vec![0], outputs: vec![1], operators, variables: vec![] };
    let buffers: Vec<Vec<u8>> = std::iter::once(Vec::new())
        .chain(entries.iter().map(|(_, words)| words.iter().flat_map(|word| word.to_le_bytes()).collect()))
        .collect();
    support::model_with(&[graph], &buffers, |fbb: &mut FlatBufferBuilder<'_>| {
        let tables: Vec<_> = entries
            .iter()
            .enumerate()
            .map(|(index, (name, _))| {
                let name = fbb.create_string(name);
                let start = fbb.start_table();
                fbb.push_slot_always(4 as VOffsetT, name);
                fbb.push_slot::<u32>(6, index as u32 + 1, 0);
                fbb.end_table(start)
            })
            .collect();
        Some(fbb.create_vector(&tables))
    })
}

#[test]
fn a_list_is_read_with_every_rule() {
    const NAME: &str = "OfflineMemoryAllocation";
    let read = |entries: &[(&str, &[i32])]| {
        let file = with_metadata(entries);
        read_offsets(&file, &read_tflite(&file).expect("a good file")).map_err(said)
    };
    assert_eq!(read(&[(NAME, &[1, 1, 2, 0, 64])]), Ok(Some(Head { tensors: 2, bytes: 128 })));
    assert_eq!(read(&[("", &[9]), (NAME, &[1, 1, 2, -1, 64])]), Ok(Some(Head { tensors: 1, bytes: 128 })));
    assert_eq!(read(&[("", &[9]), ("other", &[1])]), Ok(None));
    // A result over its operand is in place.
    assert_eq!(read(&[(NAME, &[1, 1, 2, 16, 16])]), Ok(Some(Head { tensors: 2, bytes: 80 })));
    for (words, part) in [
        (&[1, 1][..], "8 bytes are no list"),
        (&[1, 1, 5, 0, 64, -1, -1], "it says 5 offsets and holds 4"),
        (&[1, 1, 3, 0, 64, -1], "it has 3 offsets, the model's subgraphs have 2 tensors"),
        (&[1, 1, 2, 0, -64], "`b`: offset -64 is negative"),
        (&[1, 1, 2, 8, 80], "`a`: offset 8 is no multiple of 16"),
        (&[1, 1, 2, 0, 48], "overlap while both are needed"),
        (&[2, 1, 2, 0, 64], "version 2 is not known"),
        (&[-1, 1, 2, 0, 64], "version -1 is not known"),
        (&[1, 2, 2, 0, 64], "it says 2 subgraphs, and the model has 1"),
        (&[1, -1, 2, 0, 64], "it says -1 subgraphs"),
    ] {
        let message = read(&[(NAME, words)]).expect_err(part);
        assert!(message.contains(part), "{words:?}: {message}");
    }
}

#[test]
fn one_list_and_no_other() {
    const NAME: &str = "OfflineMemoryAllocation";
    let file = with_metadata(&[(NAME, &[1, 1, 2, 0, 64]), (NAME, &[1, 1, 2, 0, 0])]);
    let message = said(read_offsets(&file, &read_tflite(&file).expect("a good file")).expect_err("two lists"));
    assert!(message.contains("more than once"), "{message}");
}

#[test]
fn what_takes_no_bytes_of_the_head_has_no_offset() {
    let tensors = vec![
        T("a", vec![64], 9, 0),
        T("weights", vec![64], 9, 2),
        T("state", vec![64], 9, 0),
        T("nobody", vec![64], 9, 0),
        T("b", vec![64], 9, 0),
    ];
    let operators = vec![O(27, vec![0, 1, 1, 1, 2], vec![4], Opt::None)];
    let graph = G { name: "main", tensors, inputs: vec![0], outputs: vec![4], operators, variables: vec![2] };
    let read = |offsets: [i32; 5]| {
        let words: Vec<i32> = [1, 1, 5].into_iter().chain(offsets).collect();
        let words = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let file = support::model_with(std::slice::from_ref(&graph), &[vec![], words, vec![7; 64]], |fbb| {
            let name = fbb.create_string("OfflineMemoryAllocation");
            let start = fbb.start_table();
            fbb.push_slot_always(4 as VOffsetT, name);
            fbb.push_slot::<u32>(6, 1, 0);
            let table = fbb.end_table(start);
            Some(fbb.create_vector(&[table]))
        });
        read_offsets(&file, &read_tflite(&file).expect("a good file")).map_err(said)
    };
    assert_eq!(read([0, -1, -1, -1, 64]), Ok(Some(Head { tensors: 2, bytes: 128 })));
    for (offsets, part) in [
        ([0, 128, -1, -1, 64], "tensor 1 `weights` has offset 128, but it is a constant"),
        ([0, -1, 128, -1, 64], "tensor 2 `state` has offset 128, but it is state"),
        ([0, -1, -1, 128, 64], "tensor 3 `nobody` has offset 128, but no operator makes it"),
    ] {
        let message = read(offsets).expect_err(part);
        assert!(message.contains(part), "{message}");
    }
}
