"""The grammar: its files are sound, and what must not be written is pruned before anything is written."""

from __future__ import annotations

import re

import pytest

from workup.corpora.generate.notes import visits, grammar
from workup.corpora.generate.notes.templates import Compiler, Unwritable, identifies, leaves_of, shared_out
from workup.corpora.generate.notes.vocabulary import lab_of, specialties
from workup.corpora.generate.notes.compiled import terms, wording
from workup.errors import InputError


def test_all_templates_compile_with_and_without_what_identifies() -> None:
    source = grammar.source()
    asked = [(None, "a"), (None, "b"), (frozenset[str](), "a"), (frozenset(("date", "mrn")), "b")]
    for allowed, phrasing in asked:
        words = wording(allowed, phrasing)
        for name, specialty in specialties().items():
            if name != "common":
                found = terms(name, "mfac", allowed, phrasing)
                assert all(found.phrases.values()) and found.drugs and found.labs, name
                assert "operative" not in specialty.does or (found.operations and found.operable), name
        assert set(words.sections) == set(source.sections)
    assert all(all(wording(None, phrasing).sections.values()) for phrasing in grammar.PHRASINGS)


def test_every_rule_of_the_files_is_reachable() -> None:
    """A rule that nothing asks for is a slip of the pen."""
    source = grammar.source()
    texts = [text for section in source.sections.values() for text in section.options]
    texts += [text for options in source.rules.values() for text in options]
    asked = set(re.findall(r"[{*\-=&%]([a-z_]+)[ :}]", "\n".join(texts)))
    assert {name.partition("@")[0] for name in source.rules} <= asked
    used = {section for kind in source.types.values() for family in kind.families for section in family.sections}
    assert set(source.sections) == used


def test_phrasings_share_no_line_that_identifies() -> None:
    """What both may write is dealt out, and nothing that identifies is without a counterpart in other words."""
    source = grammar.source()
    assert len({family.phrasing for kind in source.types.values() for family in kind.families}) == 2
    said = {**{name: section.options for name, section in source.sections.items()}, **source.rules}
    for name in source.shared:
        a, b = ({line for line in shared_out(said[name], phrasing) if identifies(line)} for phrasing in "ab")
        assert not a & b, name
        assert bool(a) == bool(b), name


@pytest.mark.parametrize("rule", ["phi", "admin"])
def test_lines_of_identifiers_come_in_pairs(rule: str) -> None:
    def leaves(line: str) -> set[str]:
        return {leaf for slot in re.findall(r"@([a-z_]+)", line) for leaf in leaves_of(slot)}

    lines = grammar.source().rules[rule]
    pairs = list(zip(*(shared_out(lines, phrasing) for phrasing in grammar.PHRASINGS), strict=True))
    assert len(pairs) == len(lines) / 2 >= 25
    assert all(leaves(one) == leaves(other) for one, other in pairs)


def test_a_phrasing_that_has_no_line_for_the_allowed_leaves_takes_the_others() -> None:
    rules = {"who": ("{@patient}", "{@mrn}")}
    for phrasing in grammar.PHRASINGS:
        some = Compiler(rules, allowed=frozenset(("mrn",)), phrasing=phrasing, shared=frozenset(("who",)))
        assert len(some.rule("who")) == 1


def test_a_template_that_needs_what_is_not_allowed_is_dropped_with_those_that_need_it() -> None:
    rules = {"who": ("{@patient}", "nobody"), "only": ("{@mrn}",), "both": ("{only} and {who}",)}
    free = Compiler(rules, allowed=frozenset())
    assert free.options(rules["who"]) == (("nobody",),)
    for template in ("{only}", "{both}", "{=both}", "{*only 1-2}", "{{only}|{@dob}}"):
        with pytest.raises(Unwritable):
            free.template(template)
    assert len(free.template("{!{only}|plain}")) == 1  # what density asks for has another way
    some = Compiler(rules, allowed=frozenset(("mrn",)))
    assert len(some.options(rules["both"])) == 1 and len(some.options(rules["who"])) == 1


@pytest.mark.parametrize("template", ["{missing}", "{open", "{*missing 1-2}"])
def test_slips_of_notation_are_errors(template: str) -> None:
    with pytest.raises(InputError):
        Compiler({"a": ("b",)}, allowed=None).template(template)


def test_a_rule_that_leads_to_itself_is_an_error() -> None:
    with pytest.raises(InputError, match="does not lead back"):
        Compiler({"a": ("{b}",), "b": ("{a}",)}, allowed=None).template("{a}")


def test_labs_are_read_with_their_decimals_and_range() -> None:
    lab = lab_of("free T4 0.8-1.8 ng/dL [0.9-1.7]")
    assert (lab.name, lab.unit, lab.at(0), lab.at(0.5), lab.reference) == ("free T4", "ng/dL", "0.8", "1.3", "0.9-1.7")
    assert [lab.flag(share) for share in (0.0, 0.5, 1.0)] == ["L", " ", "H"]
    assert lab_of("INR 0.9-1.2").unit == ""


def test_there_are_enough_types_and_specialties() -> None:
    kinds = grammar.source().types
    assert len(kinds) >= 18 and len(visits.all_specialties()) >= 40
    assert set(kinds) == set(visits.STAGES)
    assert all(len(kind.families) >= 2 for kind in kinds.values())
