import type { ComponentProps, ReactNode } from 'react';

/** A check box with its label, and a hint after it. */
export function Check({ label, hint, ...input }: ComponentProps<'input'> & { label: ReactNode; hint?: ReactNode }) {
  return (
    <label className="check">
      <input type="checkbox" {...input} />
      <span>
        {label}
        {hint && <span className="hint"> {hint}</span>}
      </span>
    </label>
  );
}
