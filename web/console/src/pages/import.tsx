import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { formatNumber, typeName, words } from '../ui/format.ts';
import { Button, Card, Facts, Field, Page, Trouble, WideTable } from '../ui/parts.tsx';
import { RoleNote } from '../ui/role-note.tsx';

type Preview = Schemas['ImportToolsResponse'];
type Request = Schemas['ImportToolsRequest'];

const SHOWN = 200;

/** Turns an OpenAPI document into tools: first a preview, then the import of exactly what was previewed. */
export function ImportPage() {
  const [request, setRequest] = useState<Request>();
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
              {(id) => <input id={id} name="file" type="file" multiple accept=".json,.yaml,.yml" />}
            </Field>
            <Field label="Or paste the document">
              {(id) => <textarea id={id} name="text" rows={8} spellCheck={false} />}
            </Field>
            <Field label="Base URL" hint="Default: the address in the document.">
              {(id) => (
                <input id={id} name="base_url" type="url" maxLength={2000} placeholder="https://api.example.com/v1" />
              )}
            </Field>
            <Trouble error={preview.error} />
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

/** What an import does with the provider, before and after it. */
const EFFECTS = {
  created: { before: 'will be created', after: 'created' },
  updated: { before: 'will be updated', after: 'updated' },
  kept: { before: 'stays as it is', after: 'unchanged' },
} as const;

function Report({ result: { provider, changes, report, applied } }: { result: Preview }) {
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
      <Rows
        title="Left out"
        rows={report.left_out.map((each) => [
          each.operation_id ?? each.source_id,
          words(each.reason),
          each.detail ?? '',
        ])}
      />
      <Rows
        title="Changed or cut"
        rows={report.notes.map((each) => [each.operation_id ?? each.source_id, words(each.kind), each.detail])}
      />
    </>
  );
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
    </details>
  );
}

function Rows({ title, rows }: { title: string; rows: readonly [string, string, string][] }) {
  if (rows.length === 0) return null;
  return (
    <details>
      <summary>
        {title} ({formatNumber(rows.length)})
      </summary>
      <WideTable label={title} heads={['Operation', 'Reason', 'Detail']}>
        {rows.slice(0, SHOWN).map(([operation, reason, detail]) => (
          <tr key={`${operation} ${reason} ${detail}`}>
            <td>
              <code>{operation}</code>
            </td>
            <td>{reason}</td>
            <td>{detail}</td>
          </tr>
        ))}
      </WideTable>
    </details>
  );
}
