import { parseArgs } from 'node:util';
import { OPERATIONS, type Operation } from './operations.ts';

export interface Options {
  operations: readonly Operation[];
  accounts: number;
  /** How often every operation is measured against its counterparts, in alternating order. */
  rounds: number;
  /** Counted seconds of each measurement. */
  seconds: number;
  /** Seconds of load before the counted ones. */
  warmUpSeconds: number;
  /**
   * Seconds of load on each side before the first round, because a server that has just started is still compiling its
   * code.
   */
  rehearsalSeconds: number;
  starts: number;
  /**
   * The folder for a CPU profile of the server; null for none. Profiling slows the server, so its ratios are not valid.
   */
  profileDir: string | null;
}

const FULL = { rounds: 5, seconds: 3, warmUpSeconds: 1, rehearsalSeconds: 8, starts: 5, accounts: 10_000 };
const QUICK = { rounds: 1, seconds: 1, warmUpSeconds: 0.5, rehearsalSeconds: 2, starts: 2, accounts: 1_000 };

/** @throws Error for an unknown option or operation */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      accounts: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const usual = values.quick ? QUICK : FULL;
  return {
    ...usual,
    operations: values.only ? values.only.split(',').map(operationNamed) : OPERATIONS,
    rounds: readNumber(values.rounds, usual.rounds),
    seconds: readNumber(values.seconds, usual.seconds),
    accounts: readNumber(values.accounts, usual.accounts),
    profileDir: values.profile ?? null,
  };
}

function operationNamed(name: string): Operation {
  const found = OPERATIONS.find((operation) => operation.name === name);
  if (!found) throw new Error(`no operation ${name}; there are ${OPERATIONS.map((o) => o.name).join(', ')}`);
  return found;
}

function readNumber(text: string | undefined, usual: number): number {
  if (text === undefined) return usual;
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${text} is not a number above zero`);
  return value;
}
