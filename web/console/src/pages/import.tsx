import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { currentSession, may } from '../session.ts';
import { Breakable } from '../ui/breakable.tsx';
import { formatNumber, typeName, words } from '../ui/format.ts';
import { columnsOf } from '../ui/grid.tsx';
import { Button, Card, Copy, Facts, Field, Page, Trouble } from '../ui/parts.tsx';
import { RoleNote } from '../ui/role-note.tsx';
import { Table } from '../ui/table.tsx';

type Preview = Schemas['ImportToolsResponse'];
type Request = Schemas['ImportToolsRequest'];

const SHOWN = 200;

/** Turns an OpenAPI document into tools: first a preview, then the import of exactly what was previewed. */
export function ImportPage() {
  const [request, setRequest] = useState<Request>();
  const [isPasted, setIsPasted] = useState(false);
  const preview = useMutation({
    mutationFn: (body: Request) => take(api.POST('/api/v1/tools:import', { body: { ...body, apply: false } })),
    onSuccess: (_result, body) => setRequest(body),
  });
  const apply = useMutation({
    mutationFn: (body: Request) => take(api.POST('/api/v1/tools:import', { body: { ...body, apply: true } })),
  });
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    apply.reset();
    setRequest(undefined);
    const form = new FormData(event.currentTarget);
    const files = await Promise.all(
      form
        .getAll('file')
        .filter((file) => file instanceof File && file.size > 0)
        .map(async (file) => ({ name: (file as File).name, content: await (file as File).text() })),
    );
    const pasted = String(form.get('text')).trim();
    setIsPasted(pasted !== '' && files.length === 0);
    if (pasted) files.push({ name: 'openapi.yaml', content: pasted });
    const baseUrl = String(form.get('base_url')).trim();
    preview.mutate({ connector: String(form.get('connector')), files, ...(baseUrl && { base_url: baseUrl }) });
  };
  const result = apply.data ?? preview.data;
  return (
    <Page
      title="Import"
      lead="Turn the description of an API into tools. Nothing is changed before you have seen a preview."
    >
      <RoleNote scope="tools:write" action="import tools" />
      {may('tools:write') && (
        <Card title="Document">
          <form className="stack" onSubmit={(event) => void submit(event)}>
            <Field label="Provider" hint="Lower-case letters, digits and hyphens. It is created if it does not exist.">
              {(id) => (
                <input
                  id={id}
                  name="connector"
                  required
                  pattern="[a-z0-9]+(-[a-z0-9]+)*"
                  maxLength={80}
                  placeholder="acme-desk"
                />
              )}
            </Field>
            <Field
              label="Files"
              hint="An OpenAPI document 2.0, 3.0 or 3.1 as JSON or YAML, and the files that it refers to."
            >
              {(id) => (
                <input
                  id={id}
                  name="file"
                  data-field={isPasted ? undefined : 'files'}
                  type="file"
                  multiple
                  accept=".json,.yaml,.yml"
                />
              )}
            </Field>
            <Field label="Or paste the document">
              {(id) => (
                <textarea id={id} name="text" data-field={isPasted ? 'files' : undefined} rows={8} spellCheck={false} />
              )}
            </Field>
            <Field label="Base URL" hint="Default: the address in the document.">
              {(id) => (
                <input id={id} name="base_url" type="url" maxLength={2000} placeholder="https://api.example.com/v1" />
              )}
            </Field>
            <Trouble error={preview.error} controlName={controlName} />
            {preview.error && preview.variables && <LocalAddress request={preview.variables} />}
            <div className="actions">
              <Button type="submit" kind="primary" disabled={preview.isPending}>
                {preview.isPending ? 'Reading …' : 'Preview'}
              </Button>
            </div>
          </form>
        </Card>
      )}
      {result && (
        <Card
          title={result.applied ? 'Imported' : 'Preview'}
          actions={
            !result.applied &&
            request && (
              <Button kind="primary" disabled={apply.isPending} onClick={() => apply.mutate(request)}>
                {apply.isPending ? 'Importing …' : 'Import these tools'}
              </Button>
            )
          }
        >
          <div role="status" className="stack">
            {result.applied && (
              <p className="advice">
                The tools are stored.{' '}
                <Link to="/tools" search={{ connector: result.provider.identifier }}>
                  Show them
                </Link>
                , or{' '}
                <Link to="/connections/new" search={{ provider: result.provider.identifier }}>
                  set up a connection
                </Link>
                .
              </p>
            )}
            <Trouble error={apply.error} />
            <Report result={result} />
          </div>
        </Card>
      )}
    </Page>
  );
}

/**
 * Returns the name of the form control for a field in an API error. The API calls the provider's address `proxy_url`;
 * the form calls it `base_url`.
 */
function controlName(field: string): string {
  return field === 'proxy_url' ? 'base_url' : field;
}

const LOCAL = /http:\/\/((?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?)(?![\w.])/;

/**
 * How to allow calls to an API on the machine of the server, if the request contains the address of such an API.
 * Production environments cannot allow these calls, so nothing is shown there.
 */
function LocalAddress({ request: { base_url: baseUrl, files } }: { request: Request }) {
  const [, address] = [baseUrl ?? '', ...files.map(({ content }) => content)].join('\n').match(LOCAL) ?? [];
  if (!address || currentSession()?.environment.kind === 'PRODUCTION') return null;
  const host = /:\d+$/.test(address) ? address : `${address}:80`;
  return (
    <div className="advice stack" role="status">
      <p>
        {address} is on the machine of the server, which calls such addresses only if they are listed. Set this
        variable, and start the server again; you stay logged in.
      </p>
      <Copy text={`VALETKEY_EGRESS_ALLOW=${host}`} label="the variable" />
    </div>
  );
}

/** The texts for the effect of an import on the provider, before and after the import. */
const EFFECTS = {
  created: { before: 'will be created', after: 'created' },
  updated: { before: 'will be updated', after: 'updated' },
  kept: { before: 'stays as it is', after: 'unchanged' },
} as const;

function Report({ result: { provider, changes, report, applied } }: { result: Preview }) {
  const leftOut = useMemo(() => report.left_out.map((each) => lossOf(each, each.reason)), [report]);
  const notes = useMemo(() => report.notes.map((each) => lossOf(each, each.kind)), [report]);
  return (
    <>
      <Facts
        rows={[
          ['Provider', `${provider.identifier} (${EFFECTS[provider.action][applied ? 'after' : 'before']})`],
          ['Base URL', provider.base_url],
          ['Users connect by', provider.authorization_types.map(typeName).join(', ')],
          ['Operations', formatNumber(report.operations)],
          ['Tools', formatNumber(report.imported)],
          [
            applied ? 'Accounts that must be linked again' : 'Accounts that would have to be linked again',
            formatNumber(provider.accounts_parked),
          ],
        ]}
      />
      {report.warnings.map((warning) => (
        <p className="advice" key={warning}>
          {warning}
        </p>
      ))}
      <Names title="New tools" names={changes.added} />
      <Names title="Changed tools" names={changes.changed} />
      <Names title="Removed tools" names={changes.removed} />
      <Losses title="Left out" losses={leftOut} />
      <Losses title="Changed or cut" losses={notes} />
    </>
  );
}

function lossOf(
  { operation_id: id, source_id: source, detail = '' }: { operation_id?: string; source_id: string; detail?: string },
  reason: string,
): Loss {
  return { operation: id ?? source, reason: words(reason), detail };
}

/** A note that only the first entries of a long list are shown. */
function OnlyTheFirst({ of: { length } }: { of: readonly unknown[] }) {
  return length > SHOWN && <p className="hint">The first {formatNumber(SHOWN)} are shown.</p>;
}

function Names({ title, names }: { title: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <details open={names.length <= 20}>
      <summary>
        {title} ({formatNumber(names.length)})
      </summary>
      <ul>
        {names.slice(0, SHOWN).map((name) => (
          <li key={name}>
            <code>{name}</code>
          </li>
        ))}
      </ul>
      <OnlyTheFirst of={names} />
    </details>
  );
}

/** An operation that was left out of the import, or that was imported with changes or without one of its parts. */
interface Loss {
  operation: string;
  reason: string;
  detail: string;
}

const column = columnsOf<Loss>();

const COLUMNS = column.columns([
  column.accessor('operation', {
    header: 'Operation',
    cell: ({ getValue }) => (
      <code>
        <Breakable text={getValue()} />
      </code>
    ),
    meta: { min: 10, grow: 2 },
  }),
  column.accessor('reason', { header: 'Reason', meta: { min: 9, grow: 1 } }),
  column.accessor('detail', { header: 'Detail', meta: { min: 10, grow: 3 } }),
]);

function Losses({ title, losses }: { title: string; losses: readonly Loss[] }) {
  const shown = useMemo(() => losses.slice(0, SHOWN), [losses]);
  if (losses.length === 0) return null;
  return (
    <details>
      <summary>
        {title} ({formatNumber(losses.length)})
      </summary>
      <Table label={title} columns={COLUMNS} rows={shown} rowKey={(loss) => Object.values(loss).join(' ')} />
      <OnlyTheFirst of={losses} />
    </details>
  );
}
