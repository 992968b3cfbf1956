"""Google's Sensitive Data Protection (Cloud DLP) as a detector: each text to content:inspect, its findings as spans.

A paid service: `estimate` says what it will cost before anything is sent."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from workup.documents.document import Span
from workup.documents.records import check_whole
from workup.errors import InputError, SystemFailure, near
from workup.systems.settings import (
    Batch,
    CaFile,
    Concurrency,
    LabelMap,
    Rate,
    Retries,
    Secret,
    Timeout,
    Url,
    Word,
    Words,
)
from workup.systems.spans.google_credentials import ServiceAccount, variable_of
from workup.systems.spans.google_findings import SCORES, Finding, cause_of, findings_in
from workup.systems.spans.long_texts import Piece, halves, pieces
from workup.systems.wire.spans import Spans, checked_mapping
from workup.systems.wire.transport import Channel, Session

_UNIT = 1_000_000_000  # bytes; the service is priced by the gigabyte of content
_LEAST_BILLED = 1_000  # bytes of one call, so that an estimate errs on the dear side
_LARGEST_REQUEST = 500_000  # bytes; the service takes half a megabyte
_ANSWER, _ANSWER_PER_CHARACTER = 65_536, 1_024  # bytes; a finding is written out with several places and times
_TOKEN = "env:GOOGLE_DLP_TOKEN"
_RESOURCE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9.:_-]*$")
_TEMPLATE = re.compile(r"^(projects|organizations)/[\w.:-]+/(locations/[\w-]+/)?inspectTemplates/[\w-]+$")
_REMEDIES = {
    400: "check that the location knows all of 'info_types', and the names of project, location and template",
    401: "get a new token (they last for an hour), or use 'service_account'",
    403: "let the account use the DLP API in this project, and switch the API on",
    404: "check 'project', 'location' and 'endpoint'",
    413: "lower 'max_bytes'",
}
_NO_VERSION = (
    "Google gives its detectors no version, so the same study may find otherwise at another time; likelihoods are "
    "shown as scores of 0.1 to 0.9 in five steps, which are ranks and no probabilities"
)


class GoogleDlp:
    """POSTs each text to `projects/{project}/locations/{location}/content:inspect`; offsets are its code points.

    `token` names the environment variable with an access token (env:VARIABLE), or `service_account` the one with the
    path of a key file. `info_types` are those of the mapping, clinical ones left out, unless listed; with
    `inspect_template` they are the template's own. A text of more than `max_bytes` is sent in pieces, and one with more
    findings than the service reports at once is cut again until all are there. `cost_per_unit` is the price of a
    gigabyte. How requests travel is said in `wire.transport.Channel`.
    """

    recorded: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        project: Annotated[Word, Field(pattern=_RESOURCE.pattern, description="Project that pays")],
        base: Path = Path(),
        location: Annotated[Word, Field(pattern=_RESOURCE.pattern, description="Where the service runs")] = "global",
        endpoint: Annotated[Url, Field(description="Address of the service")] = "https://dlp.googleapis.com",
        token: Annotated[Secret, Field(description="env:VARIABLE that holds an access token")] = _TOKEN,
        service_account: Annotated[
            Secret, Field(description="env:VARIABLE that holds the path of a key file, in the place of a token")
        ] = "",
        info_types: Annotated[
            Words | None, Field(description="Types to look for; those of the mapping, clinical ones apart, when absent")
        ] = None,
        min_likelihood: Annotated[
            Literal["VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY"],
            Field(description="Least likelihood of a finding"),
        ] = "POSSIBLE",
        inspect_template: Annotated[
            Word, Field(pattern=_TEMPLATE.pattern, description="Full name of a template, in the place of types")
        ] = "",
        mapping: LabelMap = "google_dlp",
        timeout: Timeout = 60.0,
        retries: Retries = 6,
        rate: Rate = 10.0,
        concurrency: Concurrency = 4,
        batch: Batch = 20,
        ca_file: CaFile = "",
        max_bytes: Annotated[
            int, Field(ge=1_000, le=_LARGEST_REQUEST, description="Most bytes of a request; longer texts go in pieces")
        ] = _LARGEST_REQUEST,
        cost_per_unit: Annotated[
            float | None, Field(ge=0, le=1e6, description="Price of a gigabyte, for estimates and limits of cost")
        ] = None,
    ) -> None:
        where = f"system '{name}'"
        _check(project=project, location=location, batch=batch, cost_per_unit=cost_per_unit, where=where)
        self.mapping = checked_mapping(mapping, base=base)
        self.emits = _info_types(info_types, self.mapping, template=inspect_template, where=where)
        self._asks = _asks(self.emits, min_likelihood, inspect_template, where=where)
        self._limit = max_bytes - len(self._body(""))
        if self._limit < 1_000 or max_bytes > _LARGEST_REQUEST:
            raise InputError(
                f"'max_bytes' must be at most {_LARGEST_REQUEST} and leave room for 1000 bytes of text",
                where=where,
                got=str(max_bytes),
            )
        self._account: ServiceAccount | None = None
        headers = {"Authorization": f"Bearer env:{variable_of(token, name='token', where=where)}"}
        if service_account:
            variable = variable_of(service_account, name="service_account", where=where)
            self._account, headers = ServiceAccount(variable, system=name, timeout=timeout), {}
        self._channel = Channel(
            name=name,
            url=f"{endpoint.rstrip('/')}/v2/projects/{project}/locations/{location}/content:inspect",
            base=base,
            headers=headers,
            timeout=timeout,
            retries=retries,
            rate=rate,
            concurrency=concurrency,
            ca_file=ca_file,
            remedies=_REMEDIES,
            cause=cause_of,
        )
        self.name, self.batch, self.cost_per_unit = name, batch, cost_per_unit
        decisive = json.dumps([endpoint, location, self._asks, self._limit])
        self.version = f"google_dlp {location} sha256:{hashlib.sha256(decisive.encode()).hexdigest()[:12]}"
        open_line = ("texts went to the system unencrypted (http)",) if self._channel.is_open_line else ()
        self.notes: tuple[str, ...] = (_NO_VERSION, *open_line)
        self._channel.timings |= {"units": 0.0} if cost_per_unit is None else {"units": 0.0, "cost": 0.0}

    @property
    def timings(self) -> dict[str, float]:
        """Calls, retries, seconds waited, gigabytes sent and, where the price is known, what they cost."""
        return self._channel.timings

    def estimate(self, texts: Sequence[str]) -> dict[str, float | None]:
        """Calls, units (gigabytes, a call counted as 1 kB at least) and cost of these texts; nothing is sent.

        Calls that are tried again, and texts with more findings than one answer holds, come on top.

        >>> GoogleDlp(name="dlp", project="ward-7", cost_per_unit=3.0).estimate(["Seen by Dr. Berg"] * 1000)
        {'calls': 1000, 'units': 0.001, 'cost': 0.003}
        """
        sent = [_billed(text[piece.start : piece.end]) for text in texts for piece in pieces(text, limit=self._limit)]
        units = sum(sent) / _UNIT
        return {
            "calls": len(sent),
            "units": units,
            "cost": None if self.cost_per_unit is None else units * self.cost_per_unit,
        }

    def detect(self, texts: Sequence[str]) -> list[Spans | None]:
        """The findings of each text, sorted by place; a text without characters is not sent."""
        for number, text in enumerate(texts, start=1):
            check_whole(text, field="text", where=f"system '{self.name}', text {number} of its batch")
        with self._channel.open() as session:
            return session.map(lambda place: self._inspect(session, texts[place], place), range(len(texts)))

    def _inspect(self, session: Session, text: str, place: int) -> Spans | None:
        """All spans of one text, piece by piece."""
        spans: Spans = []
        waiting = pieces(text, limit=self._limit)[::-1]
        while waiting:
            piece = waiting.pop()
            findings, truncated = self._ask(session, text[piece.start : piece.end], place)
            if not truncated:
                seen = {(span.start, span.end, span.label) for span in spans}
                found = (_span(finding, piece, len(text)) for finding in findings)
                spans += [s for s in found if s is not None and (s.start, s.end, s.label) not in seen]
                continue
            parts = halves(text, piece)
            if parts is None:
                raise SystemFailure(
                    f"system '{self.name}': the answer to text {place + 1} of its batch leaves findings out, even for "
                    f"a piece of {piece.own_end - piece.own_start} characters. To fix: ask for fewer 'info_types'."
                )
            waiting += parts[::-1]
        return sorted(spans, key=lambda span: (span.start, span.end, span.label))

    def _ask(self, session: Session, sent: str, place: int) -> tuple[list[Finding], bool]:
        longest = _ANSWER + _ANSWER_PER_CHARACTER * len(sent)
        headers = self._account.headers() if self._account else None
        body = session.post(self._body(sent), longest=longest, label=place, headers=headers)
        units = _billed(sent) / _UNIT
        session.count("units", units)
        if self.cost_per_unit is not None:
            session.count("cost", units * self.cost_per_unit)
        try:
            return findings_in(body, sent)
        except ValueError as error:  # it says what is out of form, and holds nothing of the answer
            problem = str(error)
        raise SystemFailure(f"system '{self.name}': the answer to text {place + 1} of its batch {problem}.")

    def _body(self, sent: str) -> bytes:
        return json.dumps({"item": {"value": sent}, **self._asks}, ensure_ascii=False, separators=(",", ":")).encode()


def _check(*, project: str, location: str, batch: int, cost_per_unit: float | None, where: str) -> None:
    for setting, value in (("project", project), ("location", location)):
        if not isinstance(value, str) or not _RESOURCE.fullmatch(value):
            raise InputError(f"'{setting}' must be a name of letters, digits and hyphens", where=where)
    if batch < 1:
        raise InputError("'batch' must be at least 1 text", where=where, got=str(batch))
    if cost_per_unit is not None and not 0 <= cost_per_unit < float("inf"):
        raise InputError("'cost_per_unit' must be 0 or more", where=where, got=str(cost_per_unit))


def _info_types(listed: list[str] | None, mapping: str | None, *, template: str, where: str) -> tuple[str, ...] | None:
    """What is asked for; without a list all that the mapping knows, since the service's own default changes."""
    if listed is not None:
        if not listed or not all(isinstance(label, str) and label for label in listed):
            raise InputError("'info_types' must be a list of names", where=where, remedy="as in [PERSON_NAME, DATE]")
        return tuple(listed)
    if template:
        return None
    if mapping is None:
        raise InputError("'info_types' must be listed where there is no 'mapping'", where=where)
    from workup.documents.mappings import LabelMapping

    known = LabelMapping.load(mapping)
    asked = ((label, known.of(label)) for label in known.labels)
    return tuple(sorted(label for label, found in asked if found is not None and found.branch != "CLIN"))


def _asks(info_types: tuple[str, ...] | None, min_likelihood: str, template: str, *, where: str) -> dict[str, Any]:
    """What every request says beside its text; quotes are not asked for, so no text comes back."""
    if min_likelihood not in SCORES:
        raise InputError("'min_likelihood' must be known", where=where, remedy=near(str(min_likelihood), SCORES))
    if template and not _TEMPLATE.fullmatch(template):
        form = "projects/PROJECT/locations/LOCATION/inspectTemplates/NAME"
        raise InputError("'inspect_template' must be the full name of a template", where=where, remedy=f"as in {form}")
    config: dict[str, Any] = {"minLikelihood": min_likelihood, "includeQuote": False}
    if info_types is not None:
        config["infoTypes"] = [{"name": label} for label in info_types]
    return {"inspectConfig": config, **({"inspectTemplateName": template} if template else {})}


def _billed(sent: str) -> int:
    return max(_LEAST_BILLED, len(sent.encode()))


def _span(finding: Finding, piece: Piece, length: int) -> Span | None:
    """A finding at its place in the whole text; None where it is another piece's to report.

    What lies past the piece is put past the whole text: it is a false alarm, and must not land on other words.
    """
    sent = piece.end - piece.start

    def placed(offset: int) -> int:
        return piece.start + offset if offset <= sent else length + offset - sent

    start, end = placed(finding.start), placed(finding.end)
    if finding.start >= sent:
        start = length + finding.start - sent
    elif not (start < piece.own_end and end > piece.own_start):
        return None
    return Span(start, end, finding.label, score=finding.score)
