interface Row {
  grantId?: string;
  uid?: string;
  consumed?: number;
}

/** Returns an in-memory storage for oidc-provider, without the warning that its own in-memory storage prints. */
export function memoryAdapter() {
  const rows = new Map<string, Row>();
  return (model: string) => ({
    upsert: async (id: string, row: object) => void rows.set(`${model}:${id}`, row),
    find: async (id: string) => rows.get(`${model}:${id}`),
    findByUid: async (uid: string) => [...rows.values()].find((row) => row.uid === uid),
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
