import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { ApiProblem, api, type Schemas, take } from '../api.ts';
import { ANY_CONNECTION } from '../navigation.ts';
import { currentSession, may } from '../session.ts';
import { useFilters } from '../ui/filters.tsx';
import { formatMs } from '../ui/format.ts';
import { Button, Card, Confirm, Copy, Field, Json, Loading, Status, Trouble } from '../ui/parts.tsx';
import { RoleNote } from '../ui/role-note.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { SNIPPETS } from './snippets.ts';

const ToolForm = lazy(() => import('./tool-form.tsx'));

type Tool = Schemas['Tool'];
type Input = Record<string, unknown>;

/** The tools of this connector call the API of any account. */
const ANY_API = 'http';

function takesInput({ input_schema: schema }: Tool): boolean {
  const { properties = {}, additionalProperties } = schema as { properties?: object; additionalProperties?: unknown };
  return additionalProperties !== false || Object.keys(properties).length > 0;
}

/** Runs a tool with an account, or shows the request that would be sent. */
export function Playground({ tool, example }: { tool: Tool; example: Input }) {
  const { account: given = '' } = useFilters();
  const isGeneric = tool.connector === ANY_API;
  const [chosen, setChosen] = useState(given);
  const [input, setInput] = useState<Input>(example);
  const [isConfirming, setConfirming] = useState(false);
  const accounts = useQuery({
    queryKey: ['accounts', 'of', tool.connector],
    queryFn: () => {
      const query = { ...(!isGeneric && { provider: tool.connector }), status: 'ACTIVE' as const, page_size: 100 };
      return take(api.GET('/api/v1/connected_accounts', { params: { query } }));
    },
  });
  const options = accounts.data?.connected_accounts ?? [];
  const accountId = chosen || (options[0]?.id ?? '');
  const run = useMutation({
    async mutationFn(isDryRun: boolean) {
      const startedAt = performance.now();
      const body = { tool_name: tool.name, tool_input: input, connected_account_id: accountId, dry_run: isDryRun };
      const result = await take(api.POST('/api/v1/execute_tool', { body }));
      return { result, isDryRun, ms: Math.round(performance.now() - startedAt) };
    },
  });
  // The result is scrolled into view, because the form may be longer than the window.
  const resultFrame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (run.status === 'success' || run.status === 'error')
      resultFrame.current?.parentElement?.scrollIntoView({ block: 'nearest' });
  }, [run.status]);
  const mayRun = may('tools:execute') && accountId !== '';
  const call = {
    baseUrl: currentSession()?.environment.baseUrl ?? '',
    toolName: tool.name,
    toolInput: input,
    accountId,
  };

  return (
    <div className="columns">
      <Card title="Try it">
        <RoleNote scope="tools:execute" action="run tools" />
        <Field
          label="Account"
          hint={
            accounts.isSuccess && options.length === 0 ? (
              <>
                No active account{!isGeneric && ` of ${tool.connector}`}.{' '}
                {may('accounts:write') && (
                  <Link to="/accounts" search={{ connect: isGeneric ? ANY_CONNECTION : tool.connector }}>
                    Connect one.
                  </Link>
                )}
              </>
            ) : undefined
          }
        >
          {(id) => (
            <select id={id} value={accountId} onChange={({ target }) => setChosen(target.value)}>
              {options.length === 0 && <option value="">No account</option>}
              {options.map((account) => (
                <option key={account.id} value={account.id}>
                  {account.identifier}
                  {isGeneric && ` at ${account.provider}`}
                  {account.user_id && ` (${account.user_id})`}
                </option>
              ))}
            </select>
          )}
        </Field>
        {takesInput(tool) ? (
          <Tabs
            label="Input"
            panels={{
              Form: () => (
                <Suspense fallback={<Loading />}>
                  <ToolForm schema={tool.input_schema} value={input} onChange={setInput} />
                </Suspense>
              ),
              JSON: () => <JsonInput value={input} onChange={setInput} />,
            }}
          />
        ) : (
          <p className="muted">The tool takes no input.</p>
        )}
        <div className="actions">
          <Button
            kind="primary"
            disabled={!mayRun || run.isPending}
            onClick={() => (tool.hints.destructive ? setConfirming(true) : run.mutate(false))}
          >
            {run.isPending ? 'Running …' : 'Run'}
          </Button>
          <Button disabled={!mayRun || run.isPending} onClick={() => run.mutate(true)}>
            Dry run
          </Button>
        </div>
      </Card>
      <div className="stack in-sight">
        <Card title="Result">
          <div aria-live="polite" className="stack" ref={resultFrame}>
            <Result run={run} />
          </div>
        </Card>
        <Card title="The same call">
          <Tabs
            label="Language"
            panels={Object.fromEntries(
              Object.entries(SNIPPETS).map(([name, write]) => [
                name,
                () => <Copy text={write(call)} label={`the call as ${name}`} block />,
              ]),
            )}
          />
        </Card>
      </div>
      {isConfirming && (
        <Confirm
          title="Run a tool that can overwrite or delete data?"
          action="Run"
          onClose={() => setConfirming(false)}
          onConfirm={() => {
            setConfirming(false);
            run.mutate(false);
          }}
        >
          <p>{tool.description}</p>
        </Confirm>
      )}
    </div>
  );
}

interface Run {
  error: unknown;
  data: { result: Schemas['ExecuteToolResponse']; isDryRun: boolean; ms: number } | undefined;
}

function Result({ run: { error, data } }: { run: Run }) {
  if (error) return <Failure error={error} />;
  if (!data)
    return <p className="muted">Run the tool, or look at its request first with a dry run: nothing is sent then.</p>;
  const { result, isDryRun, ms } = data;
  if (isDryRun)
    return (
      <>
        <p className="result-head">
          <Status value="ENABLED" label="Dry run" /> Nothing was sent. Secrets are masked.
        </p>
        <Json value={result.dry_run_request} label="Request" />
      </>
    );
  return (
    <>
      <p className="result-head">
        <Status value="SUCCEEDED" /> {formatMs(ms)}
        {result.execution_id && (
          <Link to="/executions/$id" params={{ id: result.execution_id }}>
            Execution
          </Link>
        )}
      </p>
      {result.truncation && <p className="advice">{result.truncation.statement}</p>}
      <Json value={result.data} label="Result" />
    </>
  );
}

function Failure({ error }: { error: unknown }) {
  const problem = error instanceof ApiProblem ? error.problem : {};
  const id = problem['execution_id'];
  const tool = problem['tool_error'] as Schemas['ToolError'] | undefined;
  return (
    <>
      <Trouble error={error} />
      {tool && <Json value={tool} label="Error of the provider" />}
      {typeof id === 'string' && (
        <Link to="/executions/$id" params={{ id }}>
          Execution
        </Link>
      )}
    </>
  );
}

function JsonInput({ value, onChange }: { value: Input; onChange(value: Input): void }) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [problem, setProblem] = useState('');
  const change = (next: string) => {
    setText(next);
    try {
      const parsed: unknown = JSON.parse(next);
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
        throw new Error('It must be an object.');
      onChange(parsed as Input);
      setProblem('');
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <Field label="Input as JSON" hint={problem && <span role="status">{problem}</span>}>
      {(id) => (
        <textarea id={id} rows={12} spellCheck={false} value={text} onChange={({ target }) => change(target.value)} />
      )}
    </Field>
  );
}
