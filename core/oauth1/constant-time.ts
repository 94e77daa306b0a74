import { timingSafeEqual } from 'node:crypto';

/** Whether two texts are equal. The time depends only on their lengths, not on where they differ. */
export function equalInConstantTime(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
