import pytest

from tests.support.installations.harness import STRANGERS, ask, client, serve_in_thread

PROJECT = ("--dataset", "clinic", "--principal", "ada", "--allotment", "3")


def test_creating_people_prints_ids_and_names(loaded):
    made = loaded.json("principal", "create", "grace", "--role", "analyst")
    assert made.keys() == {"id", "name"}
    assert made["name"] == "grace"
    issued = loaded.json("key", "create", "grace")
    assert issued.keys() == {"id", "key"}
    project = loaded.json("project", "create", "sepsis", *PROJECT)
    assert project.keys() == {"id", "name"}


@pytest.mark.parametrize("role", ["analyst", "custodian", "auditor", "admin"])
def test_each_role_can_be_given(curator, role):
    curator.run("principal", "create", "ada", "--role", role)
    (ada,) = curator.json("principal", "list")["items"]
    assert (ada["name"], ada["role"]) == ("ada", role)


def test_an_unknown_role_is_refused_with_the_known_ones(curator):
    said = curator.said("principal", "create", "ada", "--role", "king")
    assert "analyst, custodian, auditor, admin" in said


@pytest.mark.parametrize("name", ["Ada", "1st", "a-b", "a" * 64, "ä", ""])
def test_names_off_the_grammar_are_refused(curator, name):
    assert "name a principal" in curator.said(
        "principal", "create", name, "--role", "analyst"
    )


def test_names_of_principals_are_never_used_again(loaded):
    loaded.run("principal", "disable", "ada")
    assert "ada is disabled" in loaded.said("key", "create", "ada")
    said = loaded.said("principal", "create", "ada", "--role", "analyst")
    assert "never used again" in said


def test_names_of_projects_are_never_used_again(loaded):
    said = loaded.said("project", "create", "study", *PROJECT)
    assert "never used again" in said


def test_a_key_is_shown_once_and_never_listed(loaded):
    issued = loaded.json("key", "create", "ada")
    listed = loaded.run("key", "list", "--json")
    assert issued["id"] in listed.stdout
    assert issued["key"] not in listed.stdout
    assert issued["key"] not in loaded.run("ledger", "export", "--json").stdout


def test_a_listed_id_is_whole_also_for_programs_without_json(loaded):
    issued = loaded.json("key", "create", "ada")
    assert issued["id"] in loaded.run("key", "list").stdout
    loaded.run("key", "revoke", issued["id"])
    keys = loaded.json("key", "list")["items"]
    assert [k["revoked"] for k in keys if k["id"] == issued["id"]] == [True]


def test_keys_of_nobody_and_unknown_keys_are_refused(curator):
    assert "no principal 'ada'" in curator.said("key", "create", "ada")
    assert "no key 'k_1'" in curator.said("key", "revoke", "k_1")
    assert "no principal" in curator.said("principal", "disable", "ada")
    assert "no principal" in curator.said("principal", "enable", "ada")


def test_a_disabled_principal_is_enabled_without_its_keys(loaded):
    first = loaded.json("key", "create", "ada")["id"]
    assert "ada is not disabled" in loaded.said("principal", "enable", "ada")
    loaded.run("principal", "disable", "ada")
    assert loaded.json("principal", "enable", "ada") == {
        "name": "ada",
        "disabled": False,
    }
    loaded.run("key", "create", "ada")
    keys = {key["id"]: key["revoked"] for key in loaded.json("key", "list")["items"]}
    assert keys[first]
    assert list(keys.values()).count(False) == 1, "the new one alone is live"


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_projects_are_listed_and_shown(loaded, as_json):
    for command in (("list",), ("show", "study")):
        shown = loaded.run("project", *command, *as_json).stdout
        assert "study" in shown
        assert "clinic" in shown
        assert "people" in shown


def test_a_project_shows_what_it_may_spend(loaded):
    shown = loaded.json("project", "show", "study")
    assert (shown["allotment"], shown["spent"], shown["remaining"]) == ("3", "0", "3")
    assert shown["expires"] is None
    assert shown["private_history"] is False


def test_an_allotment_beyond_the_cap_is_granted_with_a_note(loaded):
    loaded.json("population", "cap", "people", "2")
    told = ("--dataset", "clinic", "--principal", "ada", "--allotment")
    made = loaded.json("project", "create", "bold", *told, "5")
    assert "the allotment 5 is more than the cap 2 of people" in made["note"]
    assert "note" not in loaded.json("project", "create", "modest", *told, "2")
    changed = loaded.json("project", "change", "modest", "--allotment", "3")
    assert "at most 2 can still be spent" in changed["note"]
    assert "note" not in loaded.json("project", "change", "modest", "--purpose", "x")


def test_a_project_keeps_its_options(loaded):
    options = ("--expires", "2099-01-31", "--private-history")
    loaded.run("project", "create", "late", *PROJECT, *options)
    shown = loaded.json("project", "show", "late")
    assert (shown["expires"], shown["private_history"]) == ("2099-01-31", True)


def test_a_project_of_unknown_parts_is_refused_whole(loaded):
    before = loaded.kinds()
    wrong = ("--dataset", "nowhere", "--principal", "ada", "--allotment", "1")
    assert "no dataset 'nowhere'" in loaded.said("project", "create", "x", *wrong)
    wrong = ("--dataset", "clinic", "--principal", "eve", "--allotment", "1")
    assert "no principal 'eve'" in loaded.said("project", "create", "x", *wrong)
    assert "no project 'x'" in loaded.said("project", "show", "x")
    assert loaded.kinds() == before


def test_a_project_asks_datasets_of_one_population(loaded):
    loaded.installation.load(STRANGERS, dataset="school", population="pupils")
    both = (*PROJECT, "--dataset", "school")
    assert "one population" in loaded.said("project", "create", "mixed", *both)
    grant = ("project", "grant", "study", "--dataset", "school")
    assert "another population" in loaded.said(*grant)


def test_grants_let_principals_and_datasets_in(loaded):
    loaded.run("principal", "create", "grace", "--role", "analyst")
    granted = loaded.json(
        *("project", "grant", "study", "--principal", "grace", "--allotment", "1")
    )
    assert granted == {"project": "study", "principal": "grace"}
    loaded.installation.load(dataset="second")
    loaded.run("project", "grant", "study", "--dataset", "second")
    shown = loaded.json("project", "show", "study")
    assert shown["principals"] == ["ada", "grace"]
    assert shown["datasets"] == ["clinic", "second"]


def test_changes_act_from_the_next_request_of_a_running_server(loaded):
    issued = loaded.json("key", "create", "ada")
    with (
        serve_in_thread(loaded.installation) as url,
        client(url, issued["key"]) as http,
    ):
        assert ask(http, epsilon="0.5").status_code == 200
        loaded.run("population", "cap", "people", "1")
        assert ask(http, epsilon="0.6").status_code == 402
        loaded.run("key", "revoke", issued["id"])
        assert ask(http, epsilon="0.1").status_code == 401
    assert loaded.json("project", "show", "study")["spent"] == "0.5"
    assert loaded.json("ledger", "verify")["ok"]


def test_populations_are_listed_as_each_is_shown(loaded):
    (listed,) = loaded.json("population", "list")["items"]
    assert listed == loaded.json("population", "show", "people")
