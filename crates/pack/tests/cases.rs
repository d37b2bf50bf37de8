//! Small cases with known answers: fragmentation, alignment, zero sizes, overflow, regions, and the rules of runtimes.

use neap_pack::{
    Ends, Goal, Infeasible, Item, ItemId, Method, Options, Order, Problem, ProblemError, Proof, Region, RegionId,
    Verdict, read_csv, solve, validate, write_csv,
};

fn run(problem: &Problem, method: Method) -> neap_pack::Outcome {
    let outcome = solve(problem, &Options { method, ..Options::default() }, &mut |_| false);
    if outcome.verdict == Verdict::Fits {
        assert_eq!(validate(problem, outcome.solution.as_ref().expect("fits")), Ok(()));
    }
    outcome
}

fn height(text: &str, ends: Ends) -> (Option<u64>, u64, Proof) {
    let table = read_csv(text, ends, &[]).expect("a table");
    let outcome = run(&table.problem, Method::Search);
    (outcome.height(), outcome.lower_bound, outcome.proof)
}

const CHAIN: &str = "id,lower,upper,size\nA,0,1,90\nB,1,2,70\nC,2,3,50\n";
const FIVE: &str = "id,lower,upper,size\nA,3,4,20\nB,2,4,40\nC,5,6,60\nD,4,5,50\nE,2,3,50\n";

#[test]
fn offsets_are_better_than_slots() {
    assert_eq!(height(CHAIN, Ends::Inclusive), (Some(160), 160, Proof::Optimal));
    assert_eq!(height(CHAIN, Ends::ByColumn), (Some(90), 90, Proof::Optimal));
    let slots = "id,lower,upper,size\nA,0,2,800\nB,3,5,300\nC,3,5,450\n";
    assert_eq!(height(slots, Ends::Inclusive), (Some(800), 800, Proof::Optimal));
    assert_eq!(height(FIVE, Ends::Inclusive), (Some(110), 110, Proof::Optimal));
}

#[test]
fn a_heuristic_alone_does_not_claim_that_nothing_fits() {
    let table = read_csv(FIVE, Ends::Inclusive, &[]).expect("a table");
    let capped = table.problem.with_capacity(RegionId(0), Some(120)).expect("valid");
    let greedy = run(&capped, Method::FirstFit(Order::Size));
    assert_eq!((greedy.verdict, greedy.lower_bound, greedy.proof), (Verdict::NotFound, 110, Proof::Gap));
    assert!(greedy.heights[0] > 120);
    assert_eq!(run(&capped, Method::Search).verdict, Verdict::Fits);
}

#[test]
fn an_end_column_holds_the_last_step() {
    assert_eq!(height("buffer_id,start,end,size\nA,0,1,90\nB,1,2,70\n", Ends::ByColumn).0, Some(160));
    assert_eq!(height("id,begin,upper,size\nA,0,1,90\nB,1,2,70\n", Ends::ByColumn).0, Some(90));
}

#[test]
fn mixed_alignment_is_packed_without_waste() {
    let item = |size, align| Item { align, ..Item::new(0, 1, size) };
    let problem = Problem::from_items(vec![item(6, 2), item(8, 4), item(10, 16)]).expect("valid");
    let outcome = run(&problem, Method::Search);
    assert_eq!((outcome.height(), outcome.proof, outcome.base_aligns), (Some(24), Proof::Optimal, vec![16]));
}

/// 40 bytes at multiples of 64 may end at 104, which is neither a multiple of 64 nor reached by a third item.
#[test]
fn a_capacity_that_is_no_multiple_of_the_alignment_is_settled() {
    let item = |begin, end, size| Item { align: 64, ..Item::new(begin, end, size) };
    let fit = |items: &[Item], capacity| {
        let problem = Problem::from_items(items.to_vec()).expect("valid");
        let problem = problem.with_capacity(RegionId(0), Some(capacity)).expect("valid");
        let options = Options { goal: Goal::Fit, ..Options::default() };
        solve(&problem, &options, &mut |_| false).verdict
    };
    let two = [item(0, 2, 40), item(0, 2, 40)];
    assert_eq!(fit(&two, 104), Verdict::Fits);
    assert!(matches!(fit(&two, 103), Verdict::ProvedInfeasible(_)));
    // The long ones end at 104 and 164: one of them may be on top where 168 are there, and none of them where 163 are.
    let three = [item(0, 1, 30), item(0, 3, 40), item(1, 3, 100), item(2, 3, 1)];
    let least = (0..400).find(|&capacity| fit(&three, capacity) == Verdict::Fits).expect("fits");
    let minimised = run(&Problem::from_items(three.to_vec()).expect("valid"), Method::Search);
    assert_eq!((minimised.height(), minimised.proof), (Some(least), Proof::Optimal));
    assert!((0..least).all(|capacity| matches!(fit(&three, capacity), Verdict::ProvedInfeasible(_))));
}

#[test]
fn zero_sizes_take_nothing() {
    let problem =
        Problem::from_items(vec![Item::new(0, 2, 0), Item::new(0, 3, 16), Item::new(1, 3, 16), Item::new(2, 3, 0)]);
    assert_eq!(run(&problem.expect("valid"), Method::Search).height(), Some(32));
    let empty = Problem::from_items(vec![Item::new(0, 2, 0); 3]).expect("valid");
    assert_eq!((run(&empty, Method::Search).height(), run(&empty, Method::LiteRt).height()), (Some(0), Some(0)));
    let none = Problem::from_items(Vec::new()).expect("valid");
    assert_eq!((run(&none, Method::Search).verdict, run(&none, Method::Tflm).height()), (Verdict::Fits, Some(0)));
}

#[test]
fn sizes_above_32_bits_are_exact_and_overflow_is_an_error() {
    let two = |size, align| vec![Item { align, ..Item::new(0, 1, size) }; 2];
    let problem = Problem::from_items(two(1 << 32, 1)).expect("valid");
    assert_eq!(run(&problem, Method::Search).height(), Some(8_589_934_592));
    let problem = Problem::from_items(two(2_147_483_647, 64)).expect("valid");
    let outcome = run(&problem, Method::Search);
    assert_eq!((outcome.height(), outcome.proof), (Some(4_294_967_295), Proof::Optimal));
    let too_large = Problem::from_items(vec![Item::new(0, 1, 1 << 63)]).unwrap_err();
    assert_eq!(too_large, ProblemError::SizeOverflows { item: ItemId(0), bytes: 1 << 63 });
    assert_eq!(
        Problem::from_items(two(1 << 62, 1)).unwrap_err(),
        ProblemError::TotalOverflows { largest: Some(ItemId(0)), bytes: 1 << 62 }
    );
    let steps = Problem::from_items(vec![Item::new(0, u64::MAX, 1)]).unwrap_err();
    assert!(matches!(steps, ProblemError::BadLive { .. }));
}

fn two_regions(fast: u64, slow: Option<u64>) -> Problem {
    let items = [(0, 1, 200), (0, 2, 180), (1, 3, 60), (2, 4, 60), (3, 4, 10)];
    let items = items.map(|(begin, end, size)| Item::new(begin, end, size)).to_vec();
    let region = |capacity| Region { capacity: Some(capacity), align: 1 };
    let regions = [Some(fast), slow].into_iter().flatten().map(region).collect();
    Problem::new(items, regions, Vec::new(), Vec::new()).expect("valid")
}

#[test]
fn the_wanted_region_is_used_where_it_has_room() {
    let outcome = run(&two_regions(128, Some(1000)), Method::Search);
    assert_eq!((outcome.verdict, &outcome.heights[..]), (Verdict::Fits, &[120, 380][..]));
    let regions: Vec<u32> = outcome.solution.expect("fits").places.iter().map(|place| place.region.0).collect();
    assert_eq!(regions, [1, 1, 0, 0, 0]);
}

#[test]
fn what_cannot_fit_is_named() {
    let (names, sizes) = (["x", "a", "b", "c", "y"], [200, 180, 60, 60, 10]);
    let name = |id: ItemId| format!("{} {}", names[id.index()], sizes[id.index()]);
    let Verdict::ProvedInfeasible(reason) = run(&two_regions(128, None), Method::Search).verdict else {
        panic!("fits")
    };
    let expected = Infeasible::Load { step: 0, items: vec![ItemId(0), ItemId(1)], needed: 380, available: 128 };
    assert_eq!(reason, expected);
    let text = "no plan can fit: floor 380 > 128 (needed 380, available 128, short by 252) at step 0, live there: x 200, a 180";
    assert_eq!(reason.message(&name), text);
}

#[test]
fn an_item_larger_than_every_region_is_named() {
    let regions = [500, 700].map(|bytes| Region { capacity: Some(bytes), align: 1 }).to_vec();
    let items = vec![Item::new(0, 1, 10), Item::new(1, 2, 900)];
    let problem = Problem::new(items.clone(), regions[..1].to_vec(), Vec::new(), Vec::new()).expect("valid");
    let expected =
        |available| Verdict::ProvedInfeasible(Infeasible::TooLarge { item: ItemId(1), needed: 900, available });
    assert_eq!(run(&problem, Method::Search).verdict, expected(500));
    let problem = Problem::new(items, regions, Vec::new(), Vec::new()).expect("valid");
    assert_eq!(run(&problem, Method::Search).verdict, expected(700));
}

/// Tensors in LiteRT's order of placement are: the held one, then 200, 130 (the earlier first use first), 100, 64.
#[test]
fn litert_places_held_tensors_first_and_does_not_round_the_end() {
    let mut items = vec![
        Item::new(1, 3, 130),
        Item::new(0, 2, 200),
        Item::new(0, 4, 10),
        Item::new(2, 4, 100),
        Item::new(3, 4, 64),
    ];
    items[2].held = true;
    let problem = Problem::from_items(items).expect("valid");
    let outcome = run(&problem, Method::LiteRt);
    let offsets: Vec<u64> = outcome.solution.expect("fits").places.iter().map(|place| place.offset).collect();
    // Held at 0; 200 at 64..264; 130 beside it at 320..450; 100 into the gap 64..164; 64 beside that at 192..256.
    assert_eq!((offsets, outcome.heights[0]), (vec![320, 64, 0, 64, 192], 450));
}

/// The remembered slack of a gap counts from its unaligned start, so the second of two gaps that look alike can win.
#[test]
fn litert_remembers_gaps_unaligned() {
    let mut items =
        vec![Item::new(0, 9, 100), Item::new(0, 1, 64), Item::new(0, 9, 300), Item::new(0, 1, 70), Item::new(0, 9, 8)];
    for item in &mut items {
        item.held = true;
    }
    items.push(Item::new(5, 6, 20));
    let problem = Problem::from_items(items).expect("valid");
    let outcome = run(&problem, Method::LiteRt);
    let offsets: Vec<u64> = outcome.solution.expect("fits").places.iter().map(|place| place.offset).collect();
    // Gaps for the last: [100, 192), aligned slack 64 but remembered as 92; [492, 640), slack 128: the first is kept.
    assert_eq!(offsets, [0, 128, 192, 512, 640, 128]);
}

#[test]
fn tflm_puts_later_buffers_first_among_equals() {
    let problem =
        Problem::from_items(vec![Item::new(0, 2, 20), Item::new(0, 2, 20), Item::new(1, 3, 40)]).expect("valid");
    let outcome = run(&problem, Method::Tflm);
    let offsets: Vec<u64> = outcome.solution.expect("fits").places.iter().map(|place| place.offset).collect();
    assert_eq!(offsets, [80, 48, 0]);
}

#[test]
fn tables_survive_a_round_trip_and_name_what_is_wrong() {
    let text = "id,lower,upper,size,alignment,gaps,hint,region\na,0,9,8,4,2-4 5-6@0:4,,fast slow\nb,3,4,8,1,,16,slow\n";
    let fast = ("fast".to_owned(), Region { capacity: Some(8), align: 1 });
    let slow = ("slow".to_owned(), Region { capacity: None, align: 1 });
    let table = read_csv(text, Ends::ByColumn, &[fast, slow]).expect("a table");
    let outcome = run(&table.problem, Method::Search);
    let written = write_csv(&table, &outcome.solution.expect("fits"));
    assert_eq!(
        written,
        "id,lower,upper,size,alignment,gaps,hint,region,offset\na,0,9,8,4,2-4 5-6@0:4,,fast,0\nb,3,4,8,1,,16,slow,0\n"
    );
    let error = |text: &str| read_csv(text, Ends::ByColumn, &[]).unwrap_err().to_string();
    assert_eq!(
        error("id,lower,size\n"),
        "line 1: column `upper` is missing; the header must name id, lower, upper, size"
    );
    assert_eq!(error("id,lower,upper,size\na,0,1,x\n"), "line 2: size `x` is not a number of 0 or more");
    assert_eq!(error("id,lower,upper,size\na,0,1,1\na,0,1,1\n"), "line 3: id `a` is already used in line 2");
    assert_eq!(error("id,lower,upper,size\n\na,5,1,1\n"), "line 3: `a`: live range [5, 1) is not a range of steps");
    assert_eq!(
        error("id,lower,upper,size,gaps\na,0,5,1,1+2\n"),
        "line 2: gap `1+2` is not of the form a-b or a-b@lo:hi"
    );
    assert_eq!(error("id,lower,upper,size\na,0,5\n"), "line 2: 3 fields where the header has 4");
    assert_eq!(error(""), "line 1: the table is empty: expected a header line");
    assert!(error("id,lower,upper,size\na,0,1,99999999999999999999\n").contains("overflows"));
}

#[test]
fn answers_do_not_depend_on_the_run_or_the_order_of_the_items() {
    let mut items = vec![Item::new(0, 4, 64); 8];
    items.extend([
        Item::new(3, 5, 20),
        Item::new(2, 5, 40),
        Item::new(5, 7, 60),
        Item::new(4, 6, 50),
        Item::new(2, 4, 50),
    ]);
    let problem = Problem::from_items(items.clone()).expect("valid");
    let first = run(&problem, Method::Search);
    (0..20).for_each(|_| assert_eq!(run(&problem, Method::Search), first));
    items.reverse();
    let reversed = run(&Problem::from_items(items).expect("valid"), Method::Search);
    assert_eq!(reversed.heights, first.heights);
}

#[test]
fn a_stop_and_a_node_limit_are_obeyed() {
    let items: Vec<Item> = (0..40).map(|i| Item::new(i % 7, i % 7 + 1 + i % 5, 1 + i * 7 % 23)).collect();
    let problem = Problem::from_items(items).expect("valid");
    let stopped = solve(&problem, &Options::default(), &mut |_| true);
    assert!(stopped.solution.is_some(), "the first heuristic always runs");
    let tight = problem.clone().with_capacity(RegionId(0), Some(stopped.lower_bound)).expect("valid");
    let options = Options { node_limit: 50, goal: Goal::Fit, ..Options::default() };
    let limited = solve(&tight, &options, &mut |_| false);
    assert!(matches!(limited.verdict, Verdict::Limit | Verdict::Fits), "{limited:?}");
}
