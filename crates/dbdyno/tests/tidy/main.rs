//! The tidy test: checks of the rules in ARCHITECTURE.md and of this repository's style.
//!
//! Every check is a function from texts to a list of problems. A unit test beside it shows that it fails on a small
//! example; it must find nothing in this repository.

mod benchmarks;
mod crates;
mod experiment_file_page;
mod figures;
mod module_tree;
mod modules;
mod pages;
mod repository;
mod run_record_page;
mod sources;
mod test_levels;
mod words;

use repository::Repository;

/// Panics with all problems at once, one per line.
#[track_caller]
fn assert_none(problems: Vec<String>) {
    assert!(
        problems.is_empty(),
        "{} problems:\n  {}",
        problems.len(),
        problems.join("\n  ")
    );
}

#[test]
fn the_crate_table_equals_the_dependencies() {
    let repository = Repository::open();
    let table = crates::table(repository.text("ARCHITECTURE.md"));
    assert_none(crates::edges_off_the_table(&table, &repository.crates()));
}

#[test]
fn every_dependency_is_used() {
    assert_none(crates::unused_dependencies(&Repository::open().crates()));
}

#[test]
fn the_judging_half_opens_no_socket() {
    assert_none(crates::sockets_in_the_judging_half(
        &Repository::open().crates(),
    ));
}

#[test]
fn only_protocol_knows_a_driver_library() {
    assert_none(crates::strangers_to_the_wire(&Repository::open().crates()));
}

#[test]
fn neutral_crates_name_no_benchmark() {
    let repository = Repository::open();
    let names = benchmarks::names(repository.text(benchmarks::REGISTRY));
    assert_none(benchmarks::benchmarks_named(&repository.crates(), &names));
}

#[test]
fn benchmarks_take_only_the_user_from_the_load() {
    assert_none(benchmarks::beyond_a_user(&Repository::open().crates()));
}

#[test]
fn few_files_name_a_benchmark_that_is_not_theirs() {
    assert_none(benchmarks::named_in_many_files(
        &Repository::open().crates(),
    ));
}

#[test]
fn every_benchmark_has_a_page_that_the_index_lists() {
    let repository = Repository::open();
    let names = benchmarks::names(repository.text(benchmarks::REGISTRY));
    assert_none(benchmarks::without_page(
        &names,
        repository.text("docs/README.md"),
    ));
}

#[test]
fn no_files_form_a_circle() {
    assert_none(modules::circles(&Repository::open().crates()));
}

#[test]
fn every_crate_obeys_the_workspace_lints() {
    assert_none(crates::without_workspace_lints(
        &Repository::open().crates(),
    ));
}

#[test]
fn examples_are_run_and_not_searched_in_vain() {
    assert_none(crates::examples_against_the_manifest(
        &Repository::open().crates(),
    ));
}

#[test]
fn every_file_begins_with_its_sentence() {
    assert_none(Repository::open().check("rs", sources::without_sentence));
}

#[test]
fn no_file_is_too_long() {
    assert_none(Repository::open().check("rs", sources::too_long));
}

#[test]
fn no_module_has_an_empty_name() {
    assert_none(Repository::open().check("rs", sources::says_nothing));
}

#[test]
fn modules_have_one_style() {
    assert_none(Repository::open().check("rs", sources::second_style_of_modules));
}

#[test]
fn figures_for_people_come_from_one_place() {
    let repository = Repository::open();
    let mut problems = repository.check("rs", figures::private);
    problems.extend(figures::stale_excuses(repository.files()));
    assert_none(problems);
}

#[test]
fn no_snapshot_waits_for_its_acceptance() {
    assert_none(Repository::open().check("", sources::unaccepted_snapshot));
}

#[test]
fn nothing_is_left_undone() {
    assert_none(Repository::open().check("", sources::undone));
}

#[test]
fn nothing_depends_on_one_machine() {
    assert_none(Repository::open().check("", sources::bound_to_a_machine));
}

#[test]
fn every_path_in_the_architecture_exists() {
    let repository = Repository::open();
    let page = repository.text("ARCHITECTURE.md");
    assert_none(pages::missing_paths(page, |path| repository.has(path)));
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let repository = Repository::open();
    assert_none(repository.check("md", |page| {
        pages::broken_links(page, |path| repository.has(path))
    }));
}

#[test]
fn tables_of_pages_are_whole() {
    assert_none(Repository::open().check("md", pages::broken_tables));
}

#[test]
fn a_test_of_the_program_alone_starts_no_server() {
    assert_none(Repository::open().check("rs", test_levels::real_server_in_program));
}

#[test]
fn what_a_change_needs_is_told_of_every_crate() {
    const SUITE: &str = "crates/dbdyno/tests/suite";
    let repository = Repository::open();
    let crates = repository.crates();
    let names: Vec<&str> = crates.iter().map(|it| it.name.as_str()).collect();
    let page = repository.text("CONTRIBUTING.md");
    assert_none(test_levels::needs(page, &names, |module| {
        ["", "program/", "servers/", "long/"]
            .iter()
            .any(|level| repository.has(&format!("{SUITE}/{level}{module}.rs")))
    }));
}

#[test]
fn no_test_waits_for_a_time() {
    assert_none(Repository::open().check("rs", test_levels::sleep));
}

#[test]
fn no_test_chooses_a_port_by_number() {
    assert_none(Repository::open().check("rs", test_levels::fixed_port));
}

#[test]
fn a_run_on_a_real_server_is_measured_for_a_second() {
    assert_none(Repository::open().check("rs", test_levels::brief_measurement));
}

#[test]
fn what_is_read_first_is_plain() {
    assert_none(Repository::open().check("", words::riddles));
}

#[test]
fn the_experiment_file_page_has_the_keys_of_every_benchmark() {
    let repository = Repository::open();
    let page = repository.text("docs/experiment-file.md");
    let sections = experiment_file_page::sections();
    let differences = |section| experiment_file_page::differences(page, section);
    assert_none(sections.iter().flat_map(differences).collect());
}

#[test]
fn the_run_record_page_is_true() {
    let repository = Repository::open();
    assert_none(run_record_page::untrue(
        repository.text("docs/run-record.md"),
    ));
}
