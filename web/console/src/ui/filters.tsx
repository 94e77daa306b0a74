import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useId } from 'react';
import { toLocalTime, words } from './format.ts';

export interface Filter {
  name: string;
  label: string;
  /** The values to choose from. A record also contains their labels; otherwise `words` creates the labels. */
  options?: readonly string[] | Readonly<Record<string, string>>;
  placeholder?: string;
  /** Whether the value is a time. It is shown in local time in the form, and is in UTC in the address. */
  isTime?: boolean;
}

/** Returns the values of filters that are set. */
export function chosenOf(
  filters: readonly Filter[],
  values: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const chosen = filters.map(({ name }) => [name, values[name] ?? '']).filter(([, value]) => value !== '');
  return Object.fromEntries(chosen) as Record<string, string>;
}

function optionsOf(options: NonNullable<Filter['options']>): [string, string][] {
  return Array.isArray(options)
    ? options.map((value: string) => [value, words(value)])
    : Object.entries(options as Record<string, string>);
}

const MANY = 4;
const WIDE = '(width > 48rem)';

/** The filters of a list. They are in the address. */
export function useFilters(): Readonly<Record<string, string | undefined>> {
  return useSearch({ strict: false }) as Record<string, string | undefined>;
}

export function Filters({ filters }: { filters: readonly Filter[] }) {
  const values = useFilters();
  const navigate = useNavigate();
  const id = useId();
  const times = new Set(filters.filter(({ isTime }) => isTime).map(({ name }) => name));
  const set = (changes: Record<string, string | undefined>) => {
    const next = Object.entries({ ...values, ...changes }).filter(([, value]) => value !== undefined && value !== '');
    void navigate({ to: '.', search: Object.fromEntries(next) });
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const texts = [...new FormData(event.currentTarget)].map(([name, value]) => {
      const text = String(value).trim();
      return [name, text && times.has(name) ? new Date(text).toISOString() : text];
    });
    set(Object.fromEntries(texts));
  };
  const isSet = filters.some(({ name }) => values[name]);
  const form = (
    <form className="filters" onSubmit={submit} key={JSON.stringify(values)}>
      {filters.map(({ name, label, options, placeholder, isTime }) => (
        <div className="field" key={name}>
          <label htmlFor={`${id}${name}`}>{label}</label>
          {options ? (
            <select
              id={`${id}${name}`}
              name={name}
              defaultValue={values[name] ?? ''}
              onChange={({ target }) => set({ [name]: target.value })}
            >
              <option value="">All</option>
              {optionsOf(options).map(([option, text]) => (
                <option key={option} value={option}>
                  {text}
                </option>
              ))}
            </select>
          ) : (
            <input
              id={`${id}${name}`}
              name={name}
              type={isTime ? 'datetime-local' : 'search'}
              defaultValue={isTime ? toLocalTime(values[name]) : (values[name] ?? '')}
              placeholder={placeholder}
              maxLength={255}
            />
          )}
        </div>
      ))}
      <div className="actions">
        <button type="submit" className="button plain">
          Apply
        </button>
        {isSet && (
          <button type="button" className="button plain" onClick={() => void navigate({ to: '.', search: {} })}>
            Clear
          </button>
        )}
      </div>
    </form>
  );
  // On a narrow screen many filters would hide the list.
  if (filters.length < MANY || matchMedia(WIDE).matches) return form;
  return (
    <details open={isSet}>
      <summary>Filters</summary>
      {form}
    </details>
  );
}
