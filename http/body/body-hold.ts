import type { ByteBudget, ByteHold } from '../../core/budgets/byte-budget.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** Reserves memory for a request body until the response is closed. */
export type BodyHold = Pick<ByteHold, 'grow'>;

/** The memory budget for the bodies of all requests. */
export interface BodyMemory {
  readonly bodies: ByteBudget;
}

/**
 * Returns the memory reservation for the body of a request, within the share of its environment. Requests without a
 * token have a separate share, so that they cannot use up the share of authenticated clients.
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
