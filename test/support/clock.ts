/** A clock that changes only when a test changes it. */
export interface TestClock {
  /** Milliseconds UTC. */
  now(): number;
  advance(ms: number): void;
}

export function testClock(start = Date.parse('2026-06-01T12:00:00Z')): TestClock {
  let at = start;
  return {
    now: () => at,
    advance: (ms) => {
      at += ms;
    },
  };
}
