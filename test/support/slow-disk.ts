import type { Store } from '../../db/store.ts';

/** Returns the same store, whose commits become durable when `released` resolves, and fail when it rejects. */
export function slowDisk(store: Store, released: () => Promise<void>): Store {
  return {
    ...store,
    async commit(unit) {
      const { value, durable } = await store.commit(unit);
      const later = Promise.all([durable, released()]).then(() => {});
      later.catch(() => {});
      return { value, durable: later };
    },
  };
}
