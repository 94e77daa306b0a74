import type { ReactNode } from 'react';
import { Button, Trouble } from './parts.tsx';

interface SaveActionsProps {
  /** The mutation that the form starts. */
  save: { error: Error | null; isPending: boolean; isSuccess: boolean };
  label?: string;
  kind?: 'plain' | 'primary';
  /** Further buttons, beside the one that saves. */
  children?: ReactNode;
}

/** The end of a form: why it was not saved, the button that saves it, and whether it was saved. */
export function SaveActions({ save, label = 'Save', kind = 'primary', children }: SaveActionsProps) {
  return (
    <>
      <Trouble error={save.error} />
      <div className="actions">
        <Button type="submit" kind={kind} disabled={save.isPending}>
          {label}
        </Button>
        {children}
        <span role="status">{save.isSuccess && 'Saved.'}</span>
      </div>
    </>
  );
}
