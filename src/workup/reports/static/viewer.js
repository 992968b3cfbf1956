// Moving through the documents is an addition: without this script each of them unfolds by itself.
for (const viewer of document.querySelectorAll(".viewer")) {
  const documents = [...viewer.querySelectorAll("details.document")];
  const misses = [...viewer.querySelectorAll("[data-miss]")];
  const where = viewer.querySelector(".where");
  const choice = viewer.querySelector("select");
  let at = 0, miss = -1;
  const open = (place) => {
    at = place;
    choice.value = String(place);
    documents.forEach((one, i) => { one.open = i === place; });
  };
  const toDocument = (place, step) => {
    if (place < 0 || place >= documents.length) {
      where.textContent = step > 0 ? "This is the last document." : "This is the first document.";
      return;
    }
    // Focus that stood in the document that closes goes with the reader; on a button or the list it stays.
    const follows = document.activeElement.closest("details.document") !== null;
    open(place);
    if (follows) documents[place].querySelector("summary").focus();
    documents[place].scrollIntoView({ block: "start" });
    const count = Number(documents[place].dataset.misses);
    where.textContent = `Document ${place + 1} of ${documents.length}: ${count === 1 ? "1 miss" : `${count} misses`}.`;
    miss = misses.findIndex((one) => documents.indexOf(one.closest("details")) >= place) - 1;
    if (miss === -2) miss = misses.length - 1;
  };
  const toMiss = (step) => {
    const place = miss + step;
    if (place < 0 || place >= misses.length) {
      where.textContent = misses.length === 0 ? "Nothing was missed in these documents."
        : step > 0 ? "There is no further miss." : "There is no miss before this one.";
      return;
    }
    miss = place;
    const mark = misses[place];
    open(documents.indexOf(mark.closest("details")));
    mark.focus();
    mark.scrollIntoView({ block: "center" });
    where.textContent = `Miss ${place + 1} of ${misses.length}, in document ${at + 1} of ${documents.length}.`;
  };
  const go = {
    previous: () => toDocument(at - 1, -1),
    next: () => toDocument(at + 1, 1),
    back: () => toMiss(-1),
    miss: () => toMiss(1),
  };
  documents.forEach((one, i) => {
    const head = one.querySelector("summary");
    choice.add(new Option(`${i + 1} of ${documents.length}, misses: ${one.dataset.misses}`, String(i)));
    // One document at a time: its head is a title here, and closing it would leave nothing to read.
    head.addEventListener("click", (event) => event.preventDefault());
    head.tabIndex = -1;
  });
  choice.addEventListener("change", () => toDocument(Number(choice.value), 1));
  viewer.classList.add("one");
  addEventListener("afterprint", () => open(at));
  viewer.querySelector(".tools").hidden = false;
  for (const button of viewer.querySelectorAll("[data-go]")) {
    button.addEventListener("click", go[button.dataset.go]);
  }
  // Letters act only while the focus is in the viewer, so that they take nothing from the rest of the page.
  const keys = { p: "previous", n: "next", b: "back", m: "miss" };
  viewer.addEventListener("keydown", (event) => {
    const named = keys[event.key];
    if (named === undefined || event.target === choice || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    go[named]();
  });
}
