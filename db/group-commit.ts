import { isFatal, StorageError, translateError } from './errors.ts';

/** The transaction control of one writer connection. */
export interface TransactionControl {
  begin(): void;
  commit(): void;
  rollback(): void;
  savepoint(): void;
  release(): void;
  rollbackToSavepoint(): void;
  /** Whether a transaction is open; some failures end it behind our back. */
  isOpen(): boolean;
}

export interface GroupCommit<Tx> {
  /** Queues a unit of work; the promise settles once the transaction that carries it is durable, or the unit is undone. */
  write<T>(unit: (tx: Tx) => Promise<T>): Promise<T>;
  /** False once the writer cannot be trusted: every further write is refused. */
  healthy(): boolean;
  /** Refuses new units and waits for those that were queued. */
  drain(): Promise<void>;
}

interface Entry<Tx> {
  unit: (tx: Tx) => Promise<unknown>;
  resolve: (value: never) => void;
  reject: (reason: unknown) => void;
}

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

/**
 * Shares durable commits: the units that arrive in one turn of the event loop run one after the other in one transaction, each in
 * a savepoint of its own, so that a unit that throws takes back its own writes alone.
 *
 * A group runs within one turn. That works because the calls of a unit settle without I/O; a unit that awaits anything slower is
 * found out when the microtask queue runs empty, is undone, and is rejected. So no transaction is ever held over I/O, and no other
 * code runs while one is open.
 *
 * @param openScope makes the `tx` of one unit and the function that ends its use
 * @param maxGroup the most units of one transaction
 */
export function createGroupCommit<Tx>(
  control: TransactionControl,
  openScope: () => { tx: Tx; close: () => void },
  maxGroup = 256,
): GroupCommit<Tx> {
  const waiting: Entry<Tx>[] = [];
  const idle: (() => void)[] = [];
  let scheduled = false;
  let closed = false;
  let failure: StorageError | undefined;
  let interrupt: (() => void) | undefined;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      void flush().finally(() => {
        scheduled = false;
        if (waiting.length > 0) schedule();
        else for (const done of idle.splice(0)) done();
      });
    });
  }

  async function flush(): Promise<void> {
    const group = waiting.splice(0, maxGroup);
    try {
      if (failure !== undefined) throw refused(failure);
      control.begin();
      watch();
      const outcomes: Outcome[] = [];
      for (const entry of group) outcomes.push(await attempt(entry));
      control.commit();
      for (const [place, entry] of group.entries()) settle(entry, outcomes[place] as Outcome);
    } catch (cause) {
      const error = giveUp(cause);
      for (const entry of group) entry.reject(error);
    }
  }

  /** Runs one unit. Throws only when the transaction as a whole is lost. */
  async function attempt(entry: Entry<Tx>): Promise<Outcome> {
    control.savepoint();
    const scope = openScope();
    const outcome = await new Promise<Outcome>((resolve) => {
      interrupt = () => resolve({ ok: false, error: heldOverIo() });
      run(entry.unit, scope.tx).then(resolve);
    });
    interrupt = undefined;
    scope.close();
    if (!outcome.ok) {
      if (!control.isOpen() || isFatal(outcome.error)) throw outcome.error;
      control.rollbackToSavepoint();
    }
    control.release();
    return outcome;
  }

  /** The tick after the microtask queue ran empty: a unit that is still under way waits for something else than its `tx`. */
  function watch(): void {
    queueMicrotask(() =>
      process.nextTick(() => {
        if (interrupt === undefined) return;
        interrupt();
        watch();
      }),
    );
  }

  function giveUp(cause: unknown): StorageError {
    const translated = translateError(cause);
    const error =
      translated instanceof StorageError
        ? translated
        : new StorageError('TRANSACTION_LOST', 'the transaction was lost', { cause: translated });
    if (isFatal(error)) failure = error;
    try {
      if (control.isOpen()) control.rollback();
    } catch (rollbackError) {
      failure ??= new StorageError('ROLLBACK_FAILED', 'a transaction could not be taken back', {
        cause: rollbackError,
      });
    }
    return error;
  }

  return {
    write<T>(unit: (tx: Tx) => Promise<T>): Promise<T> {
      if (failure !== undefined) return Promise.reject(refused(failure));
      if (closed) return Promise.reject(new StorageError('STORE_CLOSED', 'the store is closed'));
      return new Promise<T>((resolve, reject) => {
        waiting.push({ unit, resolve, reject });
        schedule();
      });
    },
    healthy: () => failure === undefined && !closed,
    drain() {
      closed = true;
      if (!scheduled) return Promise.resolve();
      return new Promise((resolve) => idle.push(resolve));
    },
  };
}

async function run<Tx>(unit: (tx: Tx) => Promise<unknown>, tx: Tx): Promise<Outcome> {
  try {
    return { ok: true, value: await unit(tx) };
  } catch (error) {
    return { ok: false, error };
  }
}

function settle<Tx>(entry: Entry<Tx>, outcome: Outcome): void {
  if (outcome.ok) entry.resolve(outcome.value as never);
  else entry.reject(outcome.error);
}

function heldOverIo(): Error {
  return new Error('a transaction was held over I/O: a unit may await nothing but the repositories of its transaction');
}

function refused(cause: StorageError): StorageError {
  return new StorageError('STORE_REFUSED', 'the store failed earlier and takes no writes until it is restarted', {
    cause,
  });
}
