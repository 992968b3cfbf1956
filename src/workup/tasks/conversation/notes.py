"""What a reader of a conversation report must know before the first number."""

from __future__ import annotations

from workup.metric import FEWEST_CLUSTERS
from workup.tasks.conversation.metrics.metrics import uncovered
from workup.tasks.conversation.read.facts.probes import measured_error
from workup.tasks.conversation.read.unseen import first_sight
from workup.tasks.conversation.scores.scoring import ConversationScores
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk.tokens_since import TOKENIZER, tokens_by_turn


def why_withheld(scores: ConversationScores) -> str:
    """Why the headline is not shown; empty where it is."""
    return uncovered(scores)


NO_PROBES = "Recorded without probes: what was forgotten cannot be told."


def notes_of(scores: ConversationScores, settings: ConversationPart) -> list[str]:
    """Everything that limits what the numbers say."""
    said = [NO_PROBES] if not scores.asked else []
    said.append(scores.transcripts.telling())
    withheld = why_withheld(scores)
    if withheld:
        said.append(f"The headline is withheld: {withheld}.")
    drafts = scores.drafts
    if drafts:
        said.append(
            f"{drafts:,} cases are drafts that nobody has checked ('checked: false'): figures stand without intervals, "
            "and no gate rests on them."
        )
    late = sum(len(one.case.input.late) for one in scores.conversations if one.replicate == 0)
    if late:
        said.append(
            f"{late} critical entities of cases in the simple form are named after turn 1 only, and still count from "
            "turn 1 on; a ledger ('facts') can say when each is introduced."
        )
    if scores.n_patients < FEWEST_CLUSTERS:
        said.append(f"{scores.n_patients} patients are few: intervals over fewer than {FEWEST_CLUSTERS} are wide.")
    if scores.asked and "oracle" not in scores.arms:
        said.append("No oracle arm was run, so the decay gap, the headline, cannot be told.")
    said += [
        _unasked(scores, settings),
        _asked(settings),
        _asked_of(settings),
        _remembering(scores, settings),
        _readers(settings),
    ]
    if settings.matcher == "published":
        said.append(
            "Replies were read by the published fuzzy rule, which takes 'started penicillin V' for a penicillin "
            "allergy and 50 mg for 5 mg: for comparison with published work only."
        )
    if settings.judge is None:
        said.append("Conflicting advice was found by rules, without a language judge.")
    if settings.ratings is None:
        said.append("Documentation quality (PDSQI-9) was not assessed: no ratings were given.")
    lives = [one.arms["live"] for one in scores.conversations if "live" in one.arms]
    if not all(tokens_by_turn(held)[1] for held in lives):
        said.append(f"Tokens were counted by {TOKENIZER} where the provider gave no count.")
    return [one for one in said if one]


def _unasked(scores: ConversationScores, settings: ConversationPart) -> str:
    """Turns that the study would ask at and the transcripts did not: what was lost there is counted nowhere."""
    if not scores.asked:
        return ""
    held = [told for one in scores.conversations if "live" in one.arms for told in one.arms["live"].turns if told.said]
    left = sum(not told.asked and settings.asked_at(told.turn) for told in held)
    if not left:
        return ""
    return (
        f"At {left:,} of {len(held):,} turns nobody asked, although others were asked: facts lost there are counted "
        "nowhere, and recall is that of the turns that were chosen."
    )


def _asked(settings: ConversationPart) -> str:
    """When facts were asked for, where that was not at every turn."""
    turns = settings.probe_turns
    if settings.probe == "none" or turns == "all":
        return ""
    when = (
        f"every {turns.partition(':')[2]} turns" if isinstance(turns, str) else f"at turns {', '.join(map(str, turns))}"
    )
    return (
        f"Facts were asked for {when} only: a loss is dated to the probe that shows it, and may have come about at any "
        "turn since the probe before."
    )


def _asked_of(settings: ConversationPart) -> str:
    """Who was asked, where it was not the model under test."""
    if settings.prober is None:
        return ""
    name = settings.prober.name or settings.prober.use
    return (
        f"Facts were asked of '{name}' on the recorded history, not of the model that held the conversations: recall "
        "tells what can be told from that history, and never-events and conflicts what the model itself said."
    )


def _remembering(scores: ConversationScores, settings: ConversationPart) -> str:
    """How an endpoint that remembers was asked without its remembering that."""
    if settings.probe_in is None:
        return ""
    if settings.probe_in == "fork":
        return "The endpoint remembers by itself; each probe was asked in a copy of its session, made by the endpoint."
    if settings.probe_in == "end":
        return "The endpoint remembers by itself and was asked once, after the last turn: recall at the end, no decay."
    lines = [one.usage for one in scores.transcripts.said if "twin_heard" in one.usage]
    heard, differed = (sum(int(usage[name]) for usage in lines) for name in ("twin_heard", "twin_differed"))
    return (
        "The endpoint remembers by itself; each probe was asked in a twin, a second session that heard the same "
        f"messages. A twin's replies may differ from the conversation's own, and {differed:,} of {heard:,} did."
    )


def _readers(settings: ConversationPart) -> str:
    new, error = first_sight(), measured_error()
    first = error.first_seen
    hard = f" and on {first.agreement.right:,} of {first.agreement.n:,} hard sentences of its own" if first else ""
    return (
        "Replies are read by rules. On replies that no rule was written from they were right on "
        f"{new.outcomes.right} of {new.outcomes.n} facts, {new.advice.right} of {new.advice.n} pairs of advice and "
        f"{new.never_events.right} of {new.never_events.n} never-events{hard}, each when first seen. None of these "
        "describes this model's replies."
    )
