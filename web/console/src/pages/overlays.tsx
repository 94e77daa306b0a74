import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useDeferredValue, useId, useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { Breakable } from '../ui/breakable.tsx';
import { columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Button, Card, Empty, Field, Page, Status } from '../ui/parts.tsx';
import { loadOverlays } from './find-overlay.ts';

type Overlay = Schemas['ToolOverlay'];

/** Describes the changes of an overlay in words. */
function effectsOf(overlay: Overlay): string {
  const names = (inputs: object) => Object.keys(inputs).join(', ');
  const effects = [
    overlay.hidden && 'hidden',
    overlay.new_name && `named ${overlay.new_name}`,
    overlay.title && 'other title',
    overlay.added_description && 'words added',
    names(overlay.preset_inputs) && `preset: ${names(overlay.preset_inputs)}`,
    names(overlay.allowed_values) && `restricted: ${names(overlay.allowed_values)}`,
  ];
  return effects.filter(Boolean).join(' · ');
}

export function OverlayState({ overlay: { status } }: { overlay: Overlay }) {
  return status === 'ACTIVE' ? (
    <Status value="ACTIVE" label="Applies" />
  ) : (
    <Status value="EXPIRED" label={LABELS[status]} />
  );
}

const LABELS = { TOOL_CHANGED: 'Tool has changed', TOOL_MISSING: 'Tool is missing', NAME_TAKEN: 'Name is taken' };

const column = columnsOf<Overlay>();

const COLUMNS = column.columns([
  column.accessor('tool_name', {
    header: 'Tool',
    cell: ({ getValue }) => (
      <Link to="/overlays/$name" params={{ name: getValue() }}>
        <Breakable text={getValue()} />
      </Link>
    ),
    meta: { min: 14, grow: 2 },
  }),
  column.accessor('status', {
    header: 'State',
    cell: ({ row }) => <OverlayState overlay={row.original} />,
    meta: { min: 10 },
  }),
  column.accessor(effectsOf, { header: 'Effect', meta: { min: 16, grow: 4 } }),
]);

export function OverlaysPage() {
  return (
    <Page
      title="Tool overlays"
      lead="How this environment shows and restricts tools: hide one, rename it, preset its inputs, or allow some values only."
    >
      {may('tools:write') && <ChooseTool />}
      <List
        label="Tool overlays"
        queryKey={['overlays', 'list']}
        load={loadOverlays}
        columns={COLUMNS}
        wraps
        rowKey={({ tool_name: name }) => name}
        rowHref={({ tool_name: name }) => `/overlays/${name}`}
        empty={
          <Empty title="No overlay yet">
            An overlay lets agents use github_create_issue in one repository only, without a copy of the tool. Choose a
            tool to begin.
          </Empty>
        }
      />
    </Page>
  );
}

function ChooseTool() {
  const navigate = useNavigate();
  const list = useId();
  const [text, setText] = useState('');
  const query = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: ['tools', 'names', query],
    enabled: query.length > 1,
    queryFn: () => take(api.GET('/api/v1/tools:search', { params: { query: { query, limit: 10 } } })),
  });
  const names = (found.data?.hits ?? []).map(({ tool }) => (tool as Schemas['ToolSummary']).name);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void navigate({ to: '/overlays/$name', params: { name: text.trim() } });
  };
  return (
    <Card title="New overlay">
      <form className="stack" onSubmit={submit}>
        <Field label="Tool" hint="Its name, or words to search for.">
          {(id) => (
            <input
              id={id}
              list={list}
              value={text}
              required
              maxLength={200}
              autoComplete="off"
              placeholder="github_create_issue"
              onChange={({ target }) => setText(target.value)}
            />
          )}
        </Field>
        <datalist id={list}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <div className="actions">
          <Button type="submit" kind="primary">
            Continue
          </Button>
        </div>
      </form>
    </Card>
  );
}
