import type { ByteBudget, ByteHold } from '../../core/budgets/byte-budget.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** Counts the body of a request until its response has been sent. */
export type BodyHold = Pick<ByteHold, 'grow'>;

/** The memory budget for the bodies of all requests. */
export interface BodyMemory {
  readonly bodies: ByteBudget;
}

/**
 * Returns the memory reservation for the body of a request. Requests without a token share a separate budget and cannot
 * use that of authenticated clients. Small bodies are not counted.
 */
export function bodyHoldOf({ environment, client, res }: Exchange, { bodies }: BodyMemory): BodyHold {
  const context = environment?.id ?? '';
  let hold: ByteHold | undefined;
  return {
    grow(bytes) {
      if (hold === undefined) {
        const opened = bodies.of(client ? context : `${context} public`).hold();
        res.once('close', () => opened.release());
        hold = opened;
      }
      return !res.closed && hold.grow(bytes);
    },
  };
}
