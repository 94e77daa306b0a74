/** How much one transaction deletes at most. Deletions block the event loop, so many rows need several transactions. */
export interface DeletionLimits {
  rows: number;
  /** Encrypted bytes in these rows. A larger row is deleted in its own transaction. */
  bytes: number;
}

/** Returns the first rows that together have at most `limit` bytes; at least one row, if there is one. */
export function firstBatch<Row extends { bytes: number }>(rows: readonly Row[], limit: number): Row[] {
  let bytes = 0;
  return rows.filter((row, place) => {
    bytes += row.bytes;
    return place === 0 || bytes <= limit;
  });
}
