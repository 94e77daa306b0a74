import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { api, take } from './api.ts';
import { PAGES } from './navigation.ts';
import { logOut } from './session.ts';

interface Command {
  label: string;
  detail: string;
  run(): void;
}

const MAX_FOUND = 8;
const IDS: [RegExp, string][] = [
  [/^ca_\w+$/, '/accounts/'],
  [/^exec_\w+$/, '/executions/'],
  [/^conn_\w+$/, '/connections/'],
  [/^whk_\w+$/, '/webhooks/'],
];

/** The command palette: pages, tools as agents find them, accounts, and other resources by their id. */
export default function Palette({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const navigate = useNavigate();
  const go = (to: string) => () => void navigate({ to });
  const query = text.trim();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  const tools = useQuery({
    queryKey: ['tools', 'palette', query],
    enabled: query.length > 1,
    queryFn: () => take(api.GET('/api/v1/tools:search', { params: { query: { query, limit: MAX_FOUND } } })),
  });
  const accounts = useQuery({
    queryKey: ['accounts', 'palette', query],
    enabled: query.length > 2,
    queryFn: () =>
      take(api.GET('/api/v1/connected_accounts:search', { params: { query: { query, page_size: MAX_FOUND } } })),
  });

  const commands: Command[] = [
    ...IDS.filter(([form]) => form.test(query)).map(([, path]) => ({
      label: query,
      detail: 'Open by id',
      run: go(path + query),
    })),
    ...PAGES.map(({ to, label }) => ({ label, detail: 'Page', run: go(to) })),
    { label: 'Set up a connection', detail: 'Action', run: go('/connections/new') },
    { label: 'Log out', detail: 'Action', run: () => void logOut() },
  ].filter(({ label }) => label.toLowerCase().includes(query.toLowerCase()));
  for (const { tool } of query ? ((tools.data?.hits ?? []) as { tool: { name: string; title: string } }[]) : [])
    commands.push({ label: tool.title, detail: tool.name, run: go(`/tools/${tool.name}`) });
  for (const account of query ? (accounts.data?.connected_accounts ?? []) : [])
    commands.push({ label: account.identifier, detail: account.provider, run: go(`/accounts/${account.id}`) });

  const at = Math.min(chosen, commands.length - 1);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen((at + step + commands.length) % Math.max(1, commands.length));
    }
    if (event.key === 'Enter') run(commands[at]);
  };
  const optionId = (index: number) => `${id}-${index}`;
  useEffect(() => {
    document.getElementById(optionId(at))?.scrollIntoView({ block: 'nearest' });
  });

  return (
    <dialog ref={dialog} className="palette" aria-label="Go to a page, a tool or an account" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Search"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={commands.length > 0 ? optionId(at) : undefined}
        placeholder="A page, a tool, an account or an id"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setChosen(0);
        }}
        onKeyDown={onKey}
      />
      <div role="listbox" id={`${id}-list`} aria-label="Results">
        {commands.map((command, index) => (
          <div
            role="option"
            key={`${command.label} ${command.detail}`}
            id={optionId(index)}
            aria-selected={index === at}
            onClick={() => run(command)}
          >
            <span>{command.label}</span>
            <span className="muted">{command.detail}</span>
          </div>
        ))}
      </div>
      {commands.length === 0 && <p className="muted">Nothing was found.</p>}
    </dialog>
  );
}
