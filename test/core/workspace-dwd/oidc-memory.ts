interface Stored {
  grantId?: string;
  consumed?: number;
}

/** Storage for an oidc-provider that forgets all when the test ends. */
export function memoryAdapter() {
  const rows = new Map<string, Stored>();
  return (model: string) => ({
    upsert: async (id: string, row: Stored) => void rows.set(`${model}:${id}`, row),
    find: async (id: string) => rows.get(`${model}:${id}`),
    findByUid: async (uid: string) => [...rows.values()].find((row) => 'uid' in row && row.uid === uid),
    destroy: async (id: string) => void rows.delete(`${model}:${id}`),
    consume: async (id: string) => {
      const row = rows.get(`${model}:${id}`);
      if (row) row.consumed = 1;
    },
    revokeByGrantId: async (grantId: string) => {
      for (const [key, row] of rows) if (row.grantId === grantId) rows.delete(key);
    },
  });
}
