// Decides when the keys of a page act: on what has stood on the screen, and when nothing else could
// be meant. They rest while somebody types or has a list or a table but the queue before them, while
// anything lies open, until the page has answered the key before, and until the page has been drawn.
// What opens gets the focus; in the parts of a proposal digits choose.
const COVERS = '[role="dialog"], [role="listbox"], [role="menu"]';
const PANEL = '[class*="st-key-panel_"]';
const POPOVER = '[data-testid="stPopoverBody"]';
const TOGGLES = 'input[type="checkbox"], input[type="radio"]';
const FIELD =
  'input, textarea, select, [contenteditable="true"], [role="radio"], canvas[tabindex="0"]';
// The queue is read with the same keys as the card; other tables are searched and ticked.
const HOLDS_FOCUS =
  'input, textarea, select, [contenteditable="true"], [role="combobox"], ' +
  ".stDataFrame:not(.st-key-queue *)";
const NOT_DRAWN = '[data-testid="stSkeleton"], .stDataFrame:not(:has(canvas))';
const LINE = '[class*="st-key-part_"]';
const QUESTION = ".st-key-question";
const LONGEST_ANSWER = 5_000; // ms; keys that rest for longer would seem broken
const PAUSE = 600; // ms without a letter, after which somebody types no more
const ENDS = ["Enter", "Escape", "Tab"]; // ... or one of these in a field
const NEVER = Infinity;

const entered = new WeakSet();

// Python gives the buttons their keys once this listens: before, none could be held back.
export default function ({ data, setStateValue }) {
  const keys = (window.toolscopeKeys ??= listen());
  keys.begin(data.listens);
  if (!data.listens) setStateValue("listens", true);
  return keys.end;
}

// Listens for as long as the document lives, so that the next page finds its keys at rest.
function listen() {
  const app = document.querySelector('[data-testid="stApp"]');
  const works = () => app.dataset.testScriptState !== "notRunning";
  const watch = new MutationObserver((records) => onChange(records));
  let hasKeys = false; // whether the buttons of the page do
  let rests = false;
  let awake = NEVER; // since when the screen has shown what it shows
  let shown = null; // the card then
  // When a letter came last that was meant for something else; by the clock of the page, which is
  // behind that of the keyboard while the page is busy.
  let typed = -NEVER;
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
    if (event.key === "Escape" && !covered && target.closest?.(`${PANEL} .stDataFrame`)) {
      event.stopImmediatePropagation(); // it would take the ticks away and close nothing
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
      return;
    }
    const typing = event.isTrusted && event.timeStamp - typed < PAUSE;
    const runs = event.repeat || isAnswering() || works();
    const waits = runs || event.timeStamp < awake;
    if (!letter) {
      rests = event.key === "Escape" && Boolean(runs || covered);
      if (holds && ENDS.includes(event.key)) endTyping();
      return;
    }
    const same = event.repeat || event.key === acted?.key; // held down, or once more in vain
    const news = works() && shown === card() && !isAnswering() && !event.repeat;
    if (news && !early && !typing && !covered && !holds) early = { event, target };
    else if (holds || typing || (waits && !same)) typed = performance.now();
    rests = Boolean(waits || typing || covered || holds || document.querySelector(PANEL));
    if (!covered && !waits) setPart(target.closest?.(LINE), event.key);
  };
  // After every field and before Streamlit, which listens at the document.
  const hold = (event) => rests && event.stopPropagation();
  const noteAct = (event) => {
    if (rests || event.key === "Tab") return;
    if (event.defaultPrevented) acted = { at: performance.now(), card: card(), key: event.key };
    else if (event.key.length === 1) typed = performance.now(); // what is no key of the page
  };
  const endTyping = () => {
    typed = -NEVER;
  };
  const onChange = (records) => {
    if (works()) {
      awake = NEVER;
      return; // until it ends a panel may hold what stood in its place
    }
    const hasRun = records.some((one) => one.type === "attributes");
    // a short run may pass without a word: then another card is the answer
    if (hasRun || (acted && acted.card !== card())) acted = null;
    document.querySelectorAll(`${PANEL}, ${POPOVER}`).forEach(enter);
    if (shown !== card()) awake = NEVER;
    if (awake === NEVER) requestAnimationFrame(() => requestAnimationFrame(wake));
  };
  // The second frame after a change begins when the first has been painted.
  const wake = () => {
    const isDrawn = !document.querySelector(QUESTION)?.querySelector(NOT_DRAWN);
    if (!hasKeys || awake !== NEVER || works() || !isDrawn) return;
    awake = performance.now();
    const waited = shown === card() && early;
    [shown, early] = [card(), null];
    if (waited) again(waited);
  };

  addEventListener("keydown", decide, true);
  addEventListener("pointerdown", endTyping, true);
  document.documentElement.addEventListener("keydown", hold);
  addEventListener("keydown", noteAct);
  const end = () => {
    watch.disconnect();
    awake = NEVER;
    [shown, acted, early] = [null, null, null];
  };
  const begin = (listens) => {
    end();
    hasKeys = listens;
    watch.observe(document.body, { subtree: true, childList: true });
    watch.observe(app, { attributeFilter: ["data-test-script-state"] });
    onChange([]);
  };
  return { begin, end };
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
