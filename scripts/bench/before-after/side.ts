import type { RunningProcess } from '../processes.ts';
import type { Subject } from '../subject.ts';

/** A server that is measured: one of the two versions, or the minimal server. */
export interface Side {
  name: 'before' | 'now' | 'ceiling';
  process: RunningProcess;
  subject: Subject;
  /** The file to which `loop-watch.ts` writes the delays of the event loop. */
  stopsFile: string;
}
