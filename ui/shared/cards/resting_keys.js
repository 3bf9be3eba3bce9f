// Decides when the keys of a page rest: while somebody types or has a table or a list before them,
// while anything lies open, and until the page has answered the key before. What opens gets the
// focus; in the parts of a proposal digits choose.
const COVERS = '[role="dialog"], [role="listbox"], [role="menu"]';
const PANEL = '[class*="st-key-panel_"]';
const POPOVER = '[data-testid="stPopoverBody"]';
const TOGGLES = 'input[type="checkbox"], input[type="radio"]';
const FIELD =
  'input, textarea, select, [contenteditable="true"], [role="radio"], canvas[tabindex="0"]';
const HOLDS_FOCUS =
  'input, textarea, select, [contenteditable="true"], [role="combobox"], .stDataFrame';
const NOT_DRAWN = '[data-testid="stSkeleton"], .stDataFrame:not(:has(canvas))';
const LINE = '[class*="st-key-part_"]';
const QUESTION = ".st-key-question";
const LONGEST_ANSWER = 5_000; // ms; keys that rest for longer would seem broken

const entered = new WeakSet();
let stop = () => {};

export default function () {
  stop();
  const app = document.querySelector('[data-testid="stApp"]');
  const works = () => app.dataset.testScriptState !== "notRunning";
  let rests = false;
  let acted = null; // when a key did something that the page has not answered, and to which card
  let early = null; // a key that came while a part of the page looked for news
  const card = () => location.href + document.querySelector(QUESTION)?.textContent;
  const isAnswering = () => acted && performance.now() - acted.at < LONGEST_ANSWER;

  // Before anything else: a list that Escape closes is still open here.
  const decide = (event) => {
    const letter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    const target = event.composedPath()[0];
    const holds = target.closest?.(HOLDS_FOCUS) && !target.matches(TOGGLES);
    const covered = document.querySelector(COVERS);
    const waits = event.repeat || isAnswering() || works();
    if (event.key === "Escape" && !covered && target.closest?.(`${PANEL} .stDataFrame`)) {
      event.stopImmediatePropagation(); // it would take the ticks away and close nothing
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
      return;
    }
    const news = works() && !isAnswering() && !event.repeat;
    if (letter && news && !covered && !holds) early = { event, target, card: card() };
    rests = letter
      ? Boolean(waits || covered || holds || document.querySelector(PANEL))
      : event.key === "Escape" && Boolean(waits || covered);
    if (letter && !covered && !waits) setPart(target.closest?.(LINE), event.key);
  };
  // After every field and before Streamlit, which listens at the document.
  const hold = (event) => rests && event.stopPropagation();
  const noteAct = (event) => {
    const acts = !rests && event.defaultPrevented && event.key !== "Tab";
    if (acts) acted = { at: performance.now(), card: card() };
  };
  const onChange = (records = []) => {
    if (works()) return; // until then a panel may hold what stood in its place
    const hasRun = records.some((one) => one.type === "attributes");
    // a short run may pass without a word: then another card is the answer
    if (hasRun || (acted && acted.card !== card())) acted = null;
    if (hasRun && early) {
      const waited = early;
      early = null;
      if (waited.card === card()) again(waited);
    }
    document.querySelectorAll(`${PANEL}, ${POPOVER}`).forEach(enter);
  };

  const watch = new MutationObserver(onChange);
  watch.observe(document.body, { subtree: true, childList: true });
  watch.observe(app, { attributeFilter: ["data-test-script-state"] });
  addEventListener("keydown", decide, true);
  document.documentElement.addEventListener("keydown", hold);
  addEventListener("keydown", noteAct);
  stop = () => {
    watch.disconnect();
    removeEventListener("keydown", decide, true);
    document.documentElement.removeEventListener("keydown", hold);
    removeEventListener("keydown", noteAct);
  };
  return stop;
}

// The focus goes into the first field of what has just opened; where it has none, to the whole.
function enter(panel) {
  if (entered.has(panel) || panel.querySelector(NOT_DRAWN)) return;
  entered.add(panel);
  if (panel.contains(document.activeElement)) return;
  panel.tabIndex = -1;
  (panel.querySelector(FIELD) ?? panel).focus();
}

// The key once more, where it was pressed.
function again({ event: { key, code }, target }) {
  const at = target.isConnected ? target : document.activeElement;
  at.dispatchEvent(new KeyboardEvent("keydown", { key, code, bubbles: true, composed: true }));
}

// A digit puts the tool of a line into that part, 0 apart, and goes on to the next line.
function setPart(line, key) {
  if (!line || !/^\d$/.test(key)) return;
  const choices = [...line.querySelectorAll('[role="radio"]')];
  const apart = choices.pop();
  const choice = key === "0" ? apart : choices[key - 1];
  if (!choice) return;
  choice.click();
  const lines = [...document.querySelectorAll(LINE)];
  const next = lines[lines.indexOf(line) + 1];
  (next?.querySelector('[aria-checked="true"]') ?? choice).focus();
}
