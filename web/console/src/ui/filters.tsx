import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useId } from 'react';

export interface Filter {
  name: string;
  label: string;
  options?: readonly string[];
  placeholder?: string;
}

/** The filters of a list. They are in the address. */
export function useFilters(): Readonly<Record<string, string | undefined>> {
  return useSearch({ strict: false }) as Record<string, string | undefined>;
}

export function Filters({ filters }: { filters: readonly Filter[] }) {
  const values = useFilters();
  const navigate = useNavigate();
  const id = useId();
  const set = (changes: Record<string, string | undefined>) => {
    const next = Object.entries({ ...values, ...changes }).filter(([, value]) => value !== undefined && value !== '');
    void navigate({ to: '.', search: Object.fromEntries(next) });
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const texts = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()]);
    set(Object.fromEntries(texts));
  };
  const isSet = filters.some(({ name }) => values[name]);
  return (
    <form className="filters" onSubmit={submit} key={JSON.stringify(values)}>
      {filters.map(({ name, label, options, placeholder }) => (
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
              {options.map((option) => (
                <option key={option}>{option}</option>
              ))}
            </select>
          ) : (
            <input
              id={`${id}${name}`}
              name={name}
              type="search"
              defaultValue={values[name] ?? ''}
              placeholder={placeholder}
              maxLength={255}
            />
          )}
        </div>
      ))}
      <button type="submit" className="button plain">
        Apply
      </button>
      {isSet && (
        <button type="button" className="button plain" onClick={() => void navigate({ to: '.', search: {} })}>
          Clear
        </button>
      )}
    </form>
  );
}
