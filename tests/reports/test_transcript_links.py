"""Tables of a report lead into the page of transcripts by address alone, and name nobody whom they do not name."""

from __future__ import annotations

import re

from tests.support import conversation_record
from tests.support.report_parts import with_tables
from tests.support.transcript_pages import made, talks
from workup.reports import html, markdown
from workup.reports.conversation.transcripts import LOOKS, address
from workup.tasks.conversation.read.facts.reply_outcomes import OUTCOMES


def links(page: str) -> list[str]:
    return re.findall(r'href="(view/[^"]+)"', page)


def test_never_events_and_pairs_link_to_their_place() -> None:
    rows = [{**conversation_record.NEVER[0], "case": "c 1", "replicate": 0, "turn": 2, "fact": "p/1"}]
    pairs = [{**conversation_record.PAIRS[0], "case": "c2", "replicate": 1, "turns": [1, 3], "sentences": [0, 2]}]
    found = with_tables(conversation_record.report(), never_events=rows, conflicts=pairs)
    page = html.render(found)
    assert links(page) == ["view/index.html#c%201/0/live/2/p%2F1", "view/index.html#c2/1/live/3/=1.0-3.2"]
    assert "view/index.html" not in html.render(found, interactive=False) + markdown.render(found)


def test_a_case_that_is_not_named_has_no_link() -> None:
    rows = [{**conversation_record.NEVER[0], "case": "Lee_Rose"}]
    page = html.render(with_tables(conversation_record.report(), never_events=rows, conflicts=[]))
    assert links(page) == [] and "Lee_Rose" not in page


def test_the_addresses_are_those_of_the_page() -> None:
    [talk] = talks()
    held = made()
    for turn in talk.turns:
        for one in turn.facts:
            place = address("c1", 0, turn.number, one.anchor.rpartition("/")[2]).partition("#")[2]
            assert f'id="{place}"' in held
    assert f'id="{address("c1", 0, 3, "1.1-3.1", pair=True).partition("#")[2]}"' in held


def test_every_outcome_has_a_word_and_a_sign_of_its_own() -> None:
    assert set(OUTCOMES) <= set(LOOKS)
    assert len({look.sign for look in LOOKS.values()}) == len({look.word for look in LOOKS.values()}) == len(LOOKS)
