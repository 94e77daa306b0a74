import type { DataKeyContext, ValueContext } from '../../../core/vault/context.ts';
import type { KeyCheck, KeyCheckStore } from '../../../core/vault/key-check.ts';
import type { Resealed, RotationStore, SealedItem } from '../../../core/vault/rotate.ts';

export interface Row {
  kekId: string;
  item: SealedItem;
}

/** The stores of the vault in memory, with the guarantees that the interfaces require of a database. */
export class MemoryStore implements KeyCheckStore, RotationStore {
  readonly checks = new Map<string, KeyCheck>();
  readonly rows: Row[] = [];
  /** Called in the middle of a batch, between its read and its write. */
  beforeReplace: () => void = () => {};

  put(kekId: string, item: SealedItem): Row {
    this.#demandKey(kekId);
    const row = { kekId, item };
    this.rows.push(row);
    return row;
  }

  async listKeyChecks(): Promise<KeyCheck[]> {
    return [...this.checks.values()];
  }

  async addKeyCheck(check: KeyCheck): Promise<void> {
    if (!this.checks.has(check.kekId)) this.checks.set(check.kekId, check);
  }

  async countUnder(kekId: string): Promise<number> {
    return this.rows.filter((row) => row.kekId === kekId).length;
  }

  async listUnder(kekId: string, cursor: string | undefined, limit: number): ReturnType<RotationStore['listUnder']> {
    const start = cursor === undefined ? 0 : Number(cursor) + 1;
    const found = [...this.rows.entries()]
      .filter(([index, row]) => index >= start && row.kekId === kekId)
      .slice(0, limit);
    const items = found.map(([, row]) => ({ ...row.item }));
    return { items, next: found.length < limit ? undefined : String(found.at(-1)?.[0]) };
  }

  async replaceSealed(changes: readonly Resealed[]): Promise<number> {
    this.beforeReplace();
    let replaced = 0;
    for (const { item, kekId, blob } of changes) {
      this.#demandKey(kekId);
      const row = this.rows.find(
        (candidate) => samePlace(candidate.item, item) && candidate.item.blob.equals(item.blob),
      );
      if (row === undefined) continue;
      row.item = { ...row.item, blob };
      row.kekId = kekId;
      replaced++;
    }
    return replaced;
  }

  async forgetKeyCheck(kekId: string): Promise<number> {
    const count = await this.countUnder(kekId);
    if (count === 0) this.checks.delete(kekId);
    return count;
  }

  #demandKey(kekId: string): void {
    if (!this.checks.has(kekId)) throw new Error(`foreign key: ${kekId}`);
  }
}

function samePlace(a: SealedItem, b: SealedItem): boolean {
  const place = (context: DataKeyContext | ValueContext) => JSON.stringify([context.table, context.recordId]);
  return a.kind === b.kind && place(a.context) === place(b.context);
}
