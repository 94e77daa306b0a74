import type { RunningProcess } from '../processes.ts';
import type { Subject } from '../subject.ts';

/** A server of one of the two versions, or the ceiling. */
export interface Side {
  name: 'before' | 'now' | 'ceiling';
  process: RunningProcess;
  subject: Subject;
  /** The file of `loop-watch.ts`. */
  stopsFile: string;
}
