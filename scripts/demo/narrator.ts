import { stripVTControlCharacters, styleText } from 'node:util';

/** Prints the demo: numbered steps, each with its requests and responses. */
export interface Narrator {
  chapter(title: string): void;
  /** Prints the title and runs the step. If the step fails, the demo fails with the step's name. */
  step<T>(title: string, run: () => Promise<T>): Promise<T>;
  /** Prints one line below the running step; long lines are truncated. */
  say(line: string): void;
}

const WIDTH = 150;

export function createNarrator(print: (line: string) => void): Narrator {
  let number = 0;
  return {
    chapter: (title) => print(`\n${styleText('bold', title)}`),
    async step(title, run) {
      number += 1;
      print(`\n${String(number).padStart(2)}  ${styleText('bold', title)}`);
      try {
        return await run();
      } catch (cause) {
        throw new Error(`step ${number} (${title}) did not go as it should: ${(cause as Error).message}`, { cause });
      }
    },
    say(line) {
      const text = stripVTControlCharacters(line);
      print(`      ${text.length > WIDTH ? `${text.slice(0, WIDTH - 1)}…` : text}`);
    },
  };
}

/** Fails a step if a claim of the demo is not true. */
export function check(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new Error(`not true: ${claim}`);
}
