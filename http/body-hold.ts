import type { ByteHold } from '../core/budgets/byte-budget.ts';
import type { Deps } from './deps.ts';
import type { Exchange } from './exchange.ts';

/** Counts the body of a request until its response is over. */
export type BodyHold = Pick<ByteHold, 'grow'>;

/**
 * The memory reservation for the body of a request. Requests without a token share a separate part and cannot use that of
 * clients. Small bodies are not counted.
 */
export function bodyHoldOf({ environment, client, res }: Exchange, { bodies }: Pick<Deps, 'bodies'>): BodyHold {
  const party = environment?.id ?? '';
  let hold: ByteHold | undefined;
  return {
    grow(bytes) {
      if (hold === undefined) {
        const opened = bodies.of(client ? party : `${party} public`).hold();
        res.once('close', () => opened.release());
        hold = opened;
      }
      return !res.closed && hold.grow(bytes);
    },
  };
}
