import { Link } from '@tanstack/react-router';
import {
  type ComponentProps,
  cloneElement,
  isValidElement,
  type ReactNode,
  type Ref,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { ApiProblem } from '../api.ts';
import { Breakable } from './breakable.tsx';
import { FieldErrors } from './field-errors.tsx';
import { formatAgo, formatTime, words } from './format.ts';

export function Page({ title, lead, actions, back, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Valetkey`;
  }, [title]);
  return (
    <>
      {back && (
        <nav className="back" aria-label="Back">
          <Link to={back.to}>{back.label}</Link>
        </nav>
      )}
      <header className="page-head">
        <div>
          <h1>
            <Breakable text={title} />
          </h1>
          {lead && <p className="lead">{lead}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

interface PageProps {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  back?: Back;
  children: ReactNode;
}

/** A link to the list that the shown object belongs to. */
export interface Back {
  to: '/accounts' | '/connections' | '/executions' | '/overlays' | '/tools' | '/webhooks';
  label: string;
}

export function Button({
  kind = 'plain',
  ...rest
}: ComponentProps<'button'> & { kind?: 'plain' | 'primary' | 'danger' }) {
  return <button type="button" {...rest} className={`button ${kind}`} />;
}

export function Card({ title, actions, headingRef, children }: CardProps) {
  return (
    <section className="card">
      {title && (
        <div className="card-head">
          <h2 ref={headingRef} tabIndex={headingRef ? -1 : undefined}>
            {title}
          </h2>
          {actions && <div className="actions">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

interface CardProps {
  title?: ReactNode;
  actions?: ReactNode;
  /** For a heading that receives the focus when the element that had it is removed. */
  headingRef?: Ref<HTMLHeadingElement>;
  children: ReactNode;
}

const TONES: Record<string, string> = {
  ACTIVE: 'good',
  SUCCEEDED: 'good',
  DELIVERED: 'good',
  COMPLETED: 'good',
  OPEN: 'good',
  ENABLED: 'good',
  LIVE: 'good',
  DONE: 'good',
  FAILED: 'bad',
  DISABLED: 'bad',
  EXPIRED: 'warn',
  UNKNOWN: 'warn',
  IN_PROGRESS: 'warn',
  DRAFT: 'warn',
  OFFERED: 'warn',
  STANDBY: 'warn',
  PENDING_VERIFICATION: 'warn',
};

/** A state in words, with a colour and a sign, so that colour is not the only difference. */
export function Status({ value, label }: { value: string; label?: string }) {
  return <span className={`status ${TONES[value] ?? 'neutral'}`}>{label ?? words(value)}</span>;
}

export function Time({ value }: { value: string | null | undefined }) {
  if (!value) return <span className="muted">–</span>;
  return (
    <time dateTime={value} title={formatTime(value)}>
      {formatAgo(value)}
    </time>
  );
}

export function Facts({ rows }: { rows: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{shownValue(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function shownValue(value: ReactNode): ReactNode {
  if (value === '' || value === null || value === undefined) return <span className="muted">–</span>;
  return typeof value === 'string' ? <Breakable text={value} /> : value;
}

export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

const NONE: readonly never[] = [];

/** An error: what happened and, if the API returned it, the invalid fields and the reference for support. */
export function Trouble({ error, controlName }: { error: unknown; controlName?: (field: string) => string }) {
  if (!error) return null;
  const problem = error instanceof ApiProblem ? error.problem : {};
  const isInput = problem.code === 'VALIDATION_FAILED';
  const title = isInput ? 'Some values are not valid' : (problem.title ?? 'The request failed');
  const message = error instanceof Error ? error.message : String(error);
  const errors = problem.errors ?? NONE;
  const isRepeated =
    message === `${title}.` ||
    (errors.length > 0 && (isInput || errors.some((each) => message.includes(each.message))));
  return (
    <div className="trouble" role="alert">
      <strong>{title}</strong>
      {!isRepeated && <p>{message}</p>}
      {errors.length > 0 && <FieldErrors errors={errors} controlName={controlName} />}
      {problem.request_id && <p className="muted">Reference: {problem.request_id}</p>}
    </div>
  );
}

export function Loading() {
  return (
    <p className="loading" role="status">
      Loading …
    </p>
  );
}

/** A text to copy. */
export function Copy({ text, label, block = false }: { text: string; label: string; block?: boolean }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div className={block ? 'copy block' : 'copy'}>
      {block ? (
        <Code text={text} label={label} />
      ) : (
        <code>
          <Breakable text={text} />
        </code>
      )}
      <button type="button" className="copy-button" onClick={copy} aria-label={`Copy ${label}`}>
        <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
      </button>
    </div>
  );
}

/** Preformatted text. It can be scrolled with the keyboard. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <pre className="code" tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}

export function Json({ value, label }: { value: unknown; label: string }) {
  return <Code text={JSON.stringify(value, null, 2) ?? 'null'} label={label} />;
}

/** A control with its label. Its hint and its error describe the control for screen readers. */
export function Field({
  label,
  hint,
  children,
}: {
  label: string;
  hint?: ReactNode;
  children: (id: string) => ReactNode;
}) {
  const id = useId();
  const control = children(id);
  const described = { 'aria-describedby': `${id}-hint ${id}-error` };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {isValidElement(control) ? cloneElement(control, described) : control}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <div className="field-error" id={`${id}-error`} />
    </div>
  );
}

/** A dialog that asks for confirmation before something is ended or deleted. */
export function Confirm({ title, children, action, onConfirm, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      <div>{children}</div>
      <div className="actions end">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  children: ReactNode;
  action: string;
  onConfirm(): void;
  onClose(): void;
}
