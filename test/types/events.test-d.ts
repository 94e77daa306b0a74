import type { Cause, Events } from '../../core/events/events.ts';
import type { Transaction } from '../../db/store.ts';

/**
 * The guarantees of the event types for the code that emits events. The compiler is the test, as in contract.test-d.ts.
 */

declare const events: Events;
declare const tx: Transaction;
declare const cause: Cause;

export const PROOFS = {
  takesTheDataOfTheContract() {
    events.emit(tx, cause, {
      type: 'connected_account.expired',
      subject: 'ca_1',
      details: { reason: 'It ended.' },
      data: async (show) => ({ connected_account: await show.account('ca_1') }),
    });
    events.emit(tx, cause, {
      type: 'connected_account.deleted',
      subject: 'ca_1',
      data: async (show) => ({ connected_account: await show.account('ca_1') }),
    });
  },

  refusesAnUndeclaredName() {
    // @ts-expect-error the contract has no such event
    events.emit(tx, cause, { type: 'connected_account.vanished', subject: 'ca_1', data: () => ({}) });
  },

  refusesDataWithoutAMember() {
    events.emit(tx, cause, {
      type: 'connected_account.expired',
      subject: 'ca_1',
      // @ts-expect-error the reason is missing
      data: async (show) => ({ connected_account: await show.account('ca_1') }),
    });
  },

  refusesADetailThatIsNoMember() {
    events.emit(tx, cause, {
      type: 'connected_account.expired',
      subject: 'ca_1',
      // @ts-expect-error the data has no such member
      details: { reason: 'It ended.', secret: 'x' },
      data: async (show) => ({ connected_account: await show.account('ca_1') }),
    });
  },

  refusesADetailOfAnotherType() {
    events.emit(tx, cause, {
      type: 'connected_account.expired',
      subject: 'ca_1',
      // @ts-expect-error a reason is a text
      details: { reason: 1 },
      data: async (show) => ({ connected_account: await show.account('ca_1') }),
    });
  },

  refusesAnotherRepresentation() {
    events.emit(tx, cause, {
      type: 'connected_account.deleted',
      subject: 'ca_1',
      // @ts-expect-error an environment is not an account
      data: async (show) => ({ connected_account: await show.environment() }),
    });
  },
};
