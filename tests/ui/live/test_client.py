"""The browser's end of the line, in a world of its own: whatever is done there ends in the picture of the last text."""

from __future__ import annotations

import json

from tests.node import printed
from tests.serving import ROOT

WORLD = (ROOT / "tests" / "ui" / "live" / "world.js").as_uri()
STORIES = 400
LETTERS = "const LETTERS = [...'abcdefghijklmnopqrstuvwxyz '];"


def results(script: str) -> list:
    """What a script prints as JSON."""
    values: list = json.loads(printed(f'import {{ World, dice }} from "{WORLD}";\n{LETTERS}\n{script}'))
    return values


def test_any_story_ends_in_the_picture_of_the_last_text():
    """Keys, presses, examples, pauses, cut lines and proxies that forbid them, in any order; nobody but a person and an example
    changes the box."""
    wrong = results(f"""
    const wrong = [];
    for (let seed = 0; seed < {STORIES}; seed++) {{
      const roll = dice(seed);
      const world = new World(seed, roll(8) === 0);
      let [meant, story] = ["", []];
      for (let step = 5 + roll(40); step > 0; step--) {{
        const act = roll(20);
        story.push(act);
        if (act < 11) world.type((meant = world.box.value + LETTERS[roll(27)]));
        else if (act < 13) world.type((meant = world.box.value.slice(0, -1)));
        else if (act < 14) world.press();
        else if (act < 15) world.leaveTheBox();
        else if (act < 16) {{ world.example((meant = "example " + step)); world.clock.pass(300); }}
        else if (act < 17) for (const line of [...world.lines]) line.end(1006);
        else if (act < 18) world.forbidden = !world.forbidden;
        else world.clock.pass(roll(900));
        world.clock.pass(roll(60));
        const [text] = world.drawn.split("|");
        if (text !== world.line.page.texts[0] && !world.marked) wrong.push([seed, "older words stand beside", text, story]);
      }}
      world.clock.pass(20_000);
      if (world.marked) wrong.push([seed, "words are hidden", story]);
      const shown = world.boardOf(world.box.value, world.choice);
      if (world.box.value !== meant || world.drawn !== shown || world.sent !== meant)
        wrong.push([seed, meant, world.box.value, world.sent, world.drawn, shown, story]);
    }}
    console.log(JSON.stringify(wrong.slice(0, 3)));
    """)
    assert wrong == []


def test_while_somebody_types_the_picture_goes_forward_only():
    """Also where a run of an older text is late. And each key has its picture within a tenth of a second."""
    wrong = results("""
    const wrong = [];
    for (let seed = 0; seed < 200; seed++) {
      const [roll, world] = [dice(seed), new World(seed)];
      for (const act of world.listeners.focusin) act({ target: world.box });
      world.clock.pass(100);
      world.type("w"); // the run after this key has the box wait for a rest
      world.clock.pass(500);
      world.history = [];
      let late = 0;
      for (let key = 0; key < 40; key++) {
        world.type(world.box.value + LETTERS[key % 26]);
        const pause = roll(6) ? 10 + roll(200) : 380 + roll(250);
        world.clock.pass(pause);
        late += pause >= 130 && world.drawn !== world.boardOf(world.box.value, 0);
      }
      const lengths = world.history.map((board) => board.length);
      if (late || lengths.some((length, i) => i && length < lengths[i - 1])) wrong.push([seed, late, lengths]);
    }
    console.log(JSON.stringify(wrong.slice(0, 3)));
    """)
    assert wrong == []


def test_a_press_reaches_the_run_of_the_text_on_which_it_was_made():
    events = results("""
    const told = [];
    for (let seed = 0; seed < 100; seed++) {
      const [roll, world] = [dice(seed), new World(seed)];
      for (const act of world.listeners.focusin) act({ target: world.box });
      world.clock.pass(100);
      for (let key = 0; key < 10; key++) {
        world.type(world.box.value + LETTERS[roll(26)]);
        world.clock.pass(70 + roll(100));
      }
      world.press();
      world.clock.pass(3000);
      told.push(world.told);
    }
    console.log(JSON.stringify(told));
    """)
    assert all(len(presses) == 1 and presses[0]["seen"] == presses[0]["shown"] for presses in events)


def test_a_press_on_the_picture_is_answered_on_the_line_before_the_run_that_it_asks_for():
    first = results("""
    const first = [];
    for (let seed = 0; seed < 100; seed++) {
      const world = new World(seed);
      for (const act of world.listeners.focusin) act({ target: world.box });
      world.clock.pass(100);
      world.type("w");
      world.clock.pass(1500);
      world.tell(world.drawn);
      const { runs } = world;
      while (world.drawn === "w|0") world.clock.pass(1);
      const came = world.runs === runs ? "line" : "run";
      world.clock.pass(2000);
      const right = world.drawn === "w|1" && world.told.length === 1 && world.line.page.choices.choice === 1;
      first.push(right ? came : world.drawn);
    }
    console.log(JSON.stringify(first));
    """)
    assert set(first) <= {"line", "run"} and first.count("line") > 70, "now and then a run is faster"


def test_a_text_that_the_line_refuses_goes_to_a_run_without_waiting_for_a_rest():
    late = results("""
    const late = [];
    for (let seed = 0; seed < 100; seed++) {
      const [roll, world] = [dice(seed), new World(seed)];
      for (const act of world.listeners.focusin) act({ target: world.box });
      world.clock.pass(100);
      world.type("w"); // the run after this key has the box wait for a rest
      world.clock.pass(500);
      const text = roll(2) ? "wX" : "w".repeat(6001);
      world.type(text);
      const before = world.clock.now;
      while (world.sent !== text) world.clock.pass(1);
      late.push(world.clock.now - before);
      world.clock.pass(2000);
      if (world.pause !== 400 || world.drawn !== world.boardOf(text, 0) || world.marked) late.push(world.drawn);
    }
    console.log(JSON.stringify(late));
    """)
    assert len(late) == 100 and max(late) < 100, "milliseconds"


def test_where_no_line_can_be_opened_each_key_goes_the_other_way():
    """And the server is not asked for a line at each key."""
    drawn, pauses, tries = results("""
    const world = new World(1, true);
    let [drawn, tries] = [[], 0];
    const { open } = world.line;
    world.line.open = function () {
      const before = this.socket;
      open.call(this);
      if (this.socket && this.socket !== before) tries++;
    };
    for (const letter of "abcdefghij") {
      world.type(world.box.value + letter);
      world.clock.pass(300);
      drawn.push(world.drawn === world.boardOf(world.box.value, 0));
    }
    console.log(JSON.stringify([drawn, world.pause, tries]));
    """)
    assert all(drawn) and pauses == 0 and 1 <= tries <= 3
