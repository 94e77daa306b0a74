interface Lane {
  active: number;
  waiting: (() => void)[];
}

/**
 * Bounds how many refreshes run at once, in all and per provider, so that ten thousand accounts which expire together neither
 * flood a provider nor keep another one's accounts waiting behind a slow one (threat R8). Within a provider, first come is
 * first served; between providers, each in turn.
 */
export class RefreshSlots {
  readonly #total: number;
  readonly #perKey: number;
  /** In the order of their turns. */
  readonly #lanes = new Map<string, Lane>();
  #active = 0;

  constructor(total: number, perKey: number) {
    this.#total = total;
    this.#perKey = perKey;
  }

  /** Whether a task of this key would begin at once. */
  isFree(key: string): boolean {
    return this.#active < this.#total && (this.#lanes.get(key)?.active ?? 0) < this.#perKey;
  }

  /** Runs a task once there is a place for it. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    if (this.isFree(key)) this.#enter(key);
    else await new Promise<void>((resolve) => this.#lane(key).waiting.push(resolve));
    try {
      return await task();
    } finally {
      this.#leave(key);
    }
  }

  #lane(key: string): Lane {
    const lane = this.#lanes.get(key) ?? { active: 0, waiting: [] };
    this.#lanes.set(key, lane);
    return lane;
  }

  #enter(key: string): void {
    this.#lane(key).active++;
    this.#active++;
  }

  #leave(key: string): void {
    const lane = this.#lane(key);
    lane.active--;
    this.#active--;
    if (lane.active === 0 && lane.waiting.length === 0) this.#lanes.delete(key);
    this.#admitNext();
  }

  /** The place is handed over within this turn: nobody who comes later can take it first. */
  #admitNext(): void {
    for (const [key, lane] of this.#lanes) {
      if (lane.waiting.length === 0 || !this.isFree(key)) continue;
      this.#lanes.delete(key);
      this.#lanes.set(key, lane);
      this.#enter(key);
      lane.waiting.shift()?.();
      return;
    }
  }
}
