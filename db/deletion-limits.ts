/** How much one transaction may delete, because it blocks the event loop. */
export interface DeletionLimits {
  rows: number;
  /** Encrypted bytes in these rows. A larger row is deleted in its own transaction. */
  bytes: number;
}

/** Returns the first rows that are within the limits; at least one. */
export function firstBatch<Row extends { bytes: number }>(rows: readonly Row[], limit: number): Row[] {
  let bytes = 0;
  return rows.filter((row, place) => {
    bytes += row.bytes;
    return place === 0 || bytes <= limit;
  });
}
