/** How much one transaction removes: the event loop is held for as long as that takes. */
export interface Piece {
  rows: number;
  /** Of sealed bytes in these rows. A larger row is removed by itself. */
  bytes: number;
}

/** The first rows that fit into a piece; at least one. */
export function firstPiece<Row extends { bytes: number }>(rows: readonly Row[], limit: number): Row[] {
  let bytes = 0;
  return rows.filter((row, place) => {
    bytes += row.bytes;
    return place === 0 || bytes <= limit;
  });
}
