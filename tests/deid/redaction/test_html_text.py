"""The text of HTML, and HTML with that text replaced: tags keep their bytes, and nothing that is read is left over."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from workup.redaction.html_text import Html


def test_text_over_tags_and_entities_is_replaced_once() -> None:
    source = '<div class="a"><p>Ann <b>L&eacute;e</b> &amp; Bo</p><br/>x</div>'
    page = Html(source)
    start = page.text.index("Ann")
    new = page.rewritten([(start, page.text.index(" & Bo"), "<N>")])
    assert new == '<div class="a"><p>&lt;N&gt;<b></b> &amp; Bo</p><br/>x</div>'


def test_attributes_and_comments_are_read() -> None:
    source = "<p title='Ann Lee' class='Ann'><!-- Ann Lee --><img alt=\"Ann Lee\"></p>"
    page = Html(source)
    changes = [(match.start(), match.end(), "X") for match in re.finditer("Ann Lee", page.text)]
    assert len(changes) == 3 and "Ann Lee" not in page.rewritten(changes)
    assert page.rewritten(changes).count("class='Ann'") == 1


@given(st.text(alphabet="<>&;ab\"'=!- /p#x1", max_size=60))
def test_nothing_changes_where_nothing_is_replaced(source: str) -> None:
    assert Html(source).rewritten([]) == source


@given(st.text(alphabet="<>&;ab\"'=!- /p#x1\u00e9\U0001f600", max_size=60))
def test_all_that_is_read_can_be_replaced(source: str) -> None:
    page = Html(source)
    new = page.rewritten([(0, len(page.text), "")])
    assert Html(new).text.strip("\n\t") == "" or "<" in new or "&" in new
    tags = re.findall(r"<(?!!--)[a-z][^<>\"'&]*>", source)
    assert all(tag in new for tag in tags)
