// Filters, keys and answers are an addition: without this script the page can be read as it stands.
{
  const byId = (id) => document.getElementById(id);
  const { outcomes, types, answers: lists, draw = null, session = "" } = document.body.dataset;
  const blind = document.body.hasAttribute("data-blind");
  const names = outcomes.split("|"), kinds = types.split("|"), choicesOf = lists.split("|").map((one) => one.split(" "));
  const looks = new Map([...document.querySelectorAll("[data-look]")].map((one) => [one.dataset.look, one]));
  // One record for each fact at a turn and each finding; its place on the page is made when its conversation is opened.
  const rows = [];
  const talks = [...document.querySelectorAll(".talk")].map((box) => {
    const talk = { box, filled: false, rows: [] };
    for (const told of box.dataset.rows.split(" ").filter(Boolean)) {
      const [outcome, type, choices, flags, rules] = told.split(".");
      const offered = choices === "-" ? [] : choicesOf[choices];
      talk.rows.push({
        talk, place: null, out: false, given: null, outcome: names[outcome], type: kinds[type], flags, choices: offered,
        pair: rules !== undefined, said: rules === undefined ? names[outcome] : offered[rules],  // in the words of answers
      });
    }
    rows.push(...talk.rows);
    return talk;
  });
  const answers = [];  // lines to save, in the order in which they were given
  let current = null, choosing = false, unsaved = 0;
  const word = (name) => looks.get(name)?.querySelector(".badge").textContent.trim() ?? name.replaceAll("_", " ");
  const tell = (text) => { byId("told").textContent = text; };
  const fill = (talk) => {
    if (talk.filled) return;
    talk.filled = true;
    const kept = talk.box.querySelector("noscript");
    const made = document.createElement("div");
    made.innerHTML = kept.textContent;  // the very text that the page shows without a script
    kept.replaceWith(made.firstElementChild);
    const places = talk.box.querySelectorAll(".fact, .finding");
    talk.rows.forEach((row, i) => { row.place = places[i]; row.place.hidden = row.out; });
  };
  const rowAt = (place) => talks.find((talk) => talk.box.contains(place)).rows.find((row) => row.place === place);
  const unfold = (place) => {
    for (let box = place.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  };
  for (const talk of talks) talk.box.addEventListener("toggle", () => { if (talk.box.open) fill(talk); });

  // ---- filters ----
  const count = () => {
    const left = rows.filter((row) => !row.out && row.choices.length > 0 && row.given === null).length;
    byId("shown").textContent = `${left} to answer, ${answers.length} answered${unsaved ? `, ${unsaved} not saved` : ""}`;
  };
  const filter = () => {
    const outcome = byId("by-outcome")?.value ?? "", type = byId("by-type").value;
    const wanted = [["by-safety", "s"], ["by-judge", "j"], ["by-draw", "d"]].filter(([id]) => byId(id)?.checked);
    for (const talk of talks) {
      for (const row of talk.rows) {
        row.out = (outcome !== "" && row.outcome !== outcome) || (type !== "" && row.type !== type)
          || wanted.some(([, flag]) => !row.flags.includes(flag));
        if (row.place !== null && row.place.hidden !== row.out) row.place.hidden = row.out;
      }
      const any = outcome !== "" || type !== "" || wanted.length > 0;
      talk.box.hidden = any && talk.rows.every((row) => row.out);
    }
    count();
  };
  const offer = (id, found, shown) => {
    const list = byId(id);
    for (const name of found.filter(Boolean).sort()) list?.add(new Option(shown(name), name));
    list?.addEventListener("change", filter);
  };
  offer("by-outcome", names, word);
  offer("by-type", kinds, (name) => name);
  for (const id of ["by-safety", "by-judge", "by-draw"]) byId(id)?.addEventListener("change", filter);

  // ---- where the reader is ----
  const point = (id) => {
    for (const one of document.querySelectorAll(".here")) one.classList.remove("here");
    if (id !== undefined) byId(id).closest("mark").classList.add("here");
  };
  const choose = (row) => {
    current?.place.classList.remove("now");
    current?.place.removeAttribute("aria-current");
    fill(row.talk);
    current = row;
    choosing = false;
    const place = row.place;
    unfold(place);
    const read = place.dataset.r === undefined ? null : byId(place.dataset.r);
    if (read?.matches("details")) read.open = true;
    if (!blind || row.given !== null) point(place.dataset.m);
    place.classList.add("now");
    place.setAttribute("aria-current", "true");
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
    read?.scrollIntoView({ block: "nearest" });
    place.scrollIntoView({ block: "nearest" });
    const turn = place.closest(".turn")?.querySelector("h3").textContent ?? "";
    const what = place.matches(".finding") ? place.querySelector("h4").textContent
      : `${place.firstChild.data}${place.querySelector("bdi").textContent}`;
    byId("about").textContent = [row.talk.box.querySelector("h2").textContent, turn, what].filter(Boolean).join(" · ");
    const answerable = row.choices.length > 0;
    byId("a").disabled = !answerable || (row.pair && blind);
    byId("d").disabled = byId("u").disabled = !answerable;
    show();
    tell(!answerable ? "There is nothing to answer here." : row.given === null ? "" : `You answered: ${word(row.given)}`);
  };
  const step = (way) => {
    const open = rows.filter((row) => !row.out && (!blind || row.choices.length > 0));
    const at = current === null ? -1 : open.indexOf(current);
    const next = at < 0 && way < 0 ? open.length - 1 : at + way;
    if (next < 0 || next >= open.length) tell(way > 0 ? "This is the last one." : "This is the first one.");
    else choose(open[next]);
  };
  const show = () => {
    const asked = choosing || (blind && current.pair);
    const offered = !asked ? [] : current.choices.filter((name, place) =>
      (blind ? current.pair || place > 0 : name !== current.said));
    byId("choices").replaceChildren(...offered.map((name, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `${word(name)} (${place + 1})`;
      button.addEventListener("click", () => record(name));
      return button;
    }));
    return offered;
  };

  // ---- answers ----
  const unit = (row) => {
    try {
      const [id, replicate, arm, turn, about] = row.place.id.split("/");
      const where = { case: decodeURIComponent(id), replicate: Number(replicate), arm, turn: Number(turn) };
      return about.startsWith("=") ? { ...where, pair: about.slice(1) } : { ...where, fact: decodeURIComponent(about) };
    } catch {
      return null;  // an id that is no text
    }
  };
  const line = (row, name) => {
    const found = row.place.querySelector(`.${name}`) ?? document.createElement("span");
    found.className = name;
    row.place.append(found);
    return found;
  };
  const reveal = (row) => {
    const shown = line(row, "rules"), id = row.place.dataset.m;
    shown.replaceChildren("The rules say: ", looks.get(row.outcome)?.querySelector(".badge").cloneNode(true) ?? word(row.outcome));
    if (id !== undefined) {
      const words = byId(id);
      if (words.parentElement.tagName !== "MARK") {
        const mark = document.createElement("mark");
        words.replaceWith(mark);
        mark.append(words);
      }
      const link = document.createElement("a");
      link.href = `#${id}`;
      link.textContent = "sentence";
      shown.append(" ", link);
      point(id);
    }
    if (row.pair) return;
    // The strip of a fact tells what was answered so far, and nothing of the turns that are still to come.
    const fact = row.place.id.split("/")[4];
    const signs = row.talk.rows.filter((one) => one.place.id.split("/")[4] === fact)
      .map((one) => (one.given === null ? "·" : looks.get(one.outcome)?.dataset.sign ?? "?"));
    const strip = document.createElement("span");
    strip.className = "strip";
    strip.setAttribute("aria-hidden", "true");
    strip.textContent = ` ${signs.join("")}`;
    shown.append(strip);
  };
  const record = (expected) => {
    const row = current, rater = byId("rater").value.trim(), named = unit(row);
    if (named === null) return tell("This one cannot be labelled: its id is no plain text.");
    if (rater === "") {
      byId("rater").focus();
      return tell("Give your name or initials first.");
    }
    // What is answered a second time was answered with the outcome in view.
    const told = { ...named, expected, rater, blind: blind && row.given === null, draw: row.flags.includes("d") ? draw : null };
    answers.push(told);
    row.given = expected;
    line(row, "yours").textContent = `You: ${word(expected)}`;
    if (blind) reveal(row);
    choosing = false;
    show();
    row.place.focus({ preventScroll: true });
    tell(`Answered: ${word(expected)}.`);
    if (session === "") unsaved += 1;
    else send(told);
    return count();
  };
  const send = async (told) => {
    try {
      const headers = { "Content-Type": "application/json", "X-Workup-Session": session };
      const done = await fetch("/labels", { method: "POST", headers, body: JSON.stringify(told) });
      if (!done.ok) throw new Error();
    } catch {
      unsaved += 1;
      byId("save").hidden = false;
      tell("The server did not take this answer. Save keeps all answers of this page in a file.");
      count();
    }
  };
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(answers.map((one) => `${JSON.stringify(one)}\n`), { type: "application/x-ndjson" }));
    link.download = "labelled.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    unsaved = 0;
    count();
  };

  // ---- keys and buttons ----
  const answering = (id, act) => () => {
    if (current === null) return tell("Go to a fact first, with Next.");
    return byId(id).disabled ? tell(current.choices.length ? "Here an answer has to be chosen." : "There is nothing to answer here.") : act();
  };
  const disagree = () => {
    choosing = true;
    const offered = show();
    tell(`Which is it? ${offered.map((name, place) => `${place + 1} ${word(name)}`).join(", ")}`);
    byId("choices").querySelector("button")?.focus();
  };
  const go = {
    j: () => step(1),
    k: () => step(-1),
    a: answering("a", () => record(blind ? current.choices[0] : current.said)),
    d: answering("d", disagree),
    u: answering("u", () => record("cannot_tell")),
  };
  for (const [id, act] of Object.entries(go)) byId(id).addEventListener("click", act);
  byId("save").addEventListener("click", save);
  byId("save").hidden = session !== "";
  addEventListener("keydown", (event) => {
    const busy = event.target instanceof Element && event.target.closest("input[type=text], select, textarea") !== null;
    if (busy || event.ctrlKey || event.altKey || event.metaKey || !byId("keys").checked) return;
    const button = /^[1-9]$/.test(event.key) ? byId("choices").querySelectorAll("button")[Number(event.key) - 1] : undefined;
    const act = Object.hasOwn(go, event.key) ? go[event.key] : button === undefined ? null : () => button.click();
    if (act === null) return;
    event.preventDefault();
    act();
  });
  addEventListener("beforeunload", (event) => { if (unsaved > 0) event.preventDefault(); });
  document.addEventListener("click", (event) => {
    const place = event.target instanceof Element ? event.target.closest(".fact, .finding") : null;
    if (place !== null && event.target.closest("a") === null && getSelection().isCollapsed) choose(rowAt(place));
  });

  // ---- links from a report: #case/replicate/arm/turn/fact ----
  const follow = () => {
    const hash = location.hash.slice(1);
    const talk = talks.find((one) => one.box.id === hash.split("/").slice(0, 3).join("/"));
    if (talk !== undefined) fill(talk);
    const found = byId(hash);
    if (found === null || found.closest(".talk") === null) return;
    unfold(found);
    if (found.matches("details")) found.open = true;
    if (found.matches(".fact, .finding")) choose(rowAt(found));
    found.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", follow);
  if (session !== "") history.replaceState(null, "", location.pathname + location.hash);
  byId("filters").hidden = byId("answer").hidden = false;
  if (talks[0]?.box.open) fill(talks[0]);
  filter();
  follow();
}
