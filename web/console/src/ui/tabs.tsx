import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';

/** Panels of which one is shown. The arrows move between the tabs. */
export function Tabs({ label, panels }: { label: string; panels: Record<string, () => ReactNode> }) {
  const names = Object.keys(panels);
  const [chosen, setChosen] = useState(names[0] ?? '');
  const id = useId();
  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = (names.indexOf(chosen) + step + names.length) % names.length;
    setChosen(names[next] ?? '');
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <div className="stack">
      <div role="tablist" className="tabs" aria-label={label} onKeyDown={onKey}>
        {names.map((name, index) => (
          <button
            type="button"
            role="tab"
            key={name}
            id={`${id}-${index}`}
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => setChosen(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${names.indexOf(chosen)}`}>
        {panels[chosen]?.()}
      </div>
    </div>
  );
}
