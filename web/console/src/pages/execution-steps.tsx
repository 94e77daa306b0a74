import type { Schemas } from '../api.ts';
import { formatMs } from '../ui/format.ts';
import { Card } from '../ui/parts.tsx';
import { failureName } from './error-help.ts';

type Step = Schemas['ExecutionStep'];

/** The steps of a call between its start and its outcome, with the time since its start. */
export function ExecutionSteps({ execution, steps }: { execution: Schemas['Execution']; steps: readonly Step[] }) {
  const start = Date.parse(execution.started_at);
  const end = start + (execution.duration_ms ?? 0);
  const whole = Math.max(end - start, 1);
  const requests = steps.filter(({ kind }) => kind === 'REQUEST').length;
  if (steps.length === 0) return null;
  return (
    <Card title="Timeline">
      <p className="muted">
        {requests === 1 ? 'One request was sent.' : `${requests} requests were sent.`} Valetkey and the reading of the
        response took the rest of the time.
      </p>
      <ol className="time-line">
        {[...steps.entries()].map(([number, step]) => {
          const after = Date.parse(step.started_at) - start;
          return (
            <li key={number}>
              <span className="at">+{formatMs(after)}</span>
              <span>
                <StepText step={step} />
              </span>
              <span className="took">{formatMs(step.duration_ms)}</span>
              <svg viewBox={`0 0 ${whole} 1`} preserveAspectRatio="none" aria-hidden="true">
                <rect className={toneOf(step)} x={after} width={Math.max(step.duration_ms, whole / 200)} height="1" />
              </svg>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

const TITLES: Record<Step['kind'], string> = {
  REQUEST: 'Request to the provider',
  WAIT: 'Waited before the next request',
  REFRESH: 'Refreshed the credential',
};

export function StepText({ step }: { step: Step }) {
  return (
    <>
      {TITLES[step.kind]} <Outcome step={step} />
    </>
  );
}

function Outcome({ step: { kind, upstream_status: status, error_kind: error } }: { step: Step }) {
  if (kind === 'REFRESH') return error ? <b>without success</b> : null;
  if (error) return <b>{failureName(error).toLowerCase()}</b>;
  return status === null ? null : <b>{status}</b>;
}

function toneOf({ kind, upstream_status: status, error_kind: error }: Step): string {
  if (error || (status !== null && status >= 400)) return 'bad';
  return kind === 'WAIT' ? 'wait' : 'good';
}
