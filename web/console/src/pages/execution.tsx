import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api, type Schemas, take } from '../api.ts';
import { Breakable } from '../ui/breakable.tsx';
import { FailedPage } from '../ui/failed-page.tsx';
import { formatMs } from '../ui/format.ts';
import { Card, Facts, Json, Loading, Page, Status, Time } from '../ui/parts.tsx';
import { ERROR_HELP, failureName } from './error-help.ts';
import { ExecutionSpan } from './execution-span.tsx';
import { ExecutionSteps } from './execution-steps.tsx';

const BACK = { to: '/executions', label: 'All executions' } as const;

/**
 * The recorded names of calls that are not tool calls: raw calls of an API, and reads of resources and prompts of MCP
 * servers.
 */
const WITHOUT_TOOL = new Set(['proxy', 'mcp_resource', 'mcp_prompt']);

function adviceFor({ status, error_kind: kind }: Schemas['Execution']): string | undefined {
  if (kind) return ERROR_HELP[kind];
  if (status === 'UNKNOWN')
    return 'The call may have been sent, but its outcome was lost. Check at the provider before you retry.';
  if (status === 'FAILED') return 'Nothing was sent: a setting of the connection or the account is missing or wrong.';
  return undefined;
}

export function ExecutionPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { data, error, isPending } = useQuery({
    queryKey: ['execution', id],
    queryFn: () => take(api.GET('/api/v1/executions/{execution_id}', { params: { path: { execution_id: id } } })),
  });
  if (isPending) return <Loading />;
  if (error) return <FailedPage title="Execution" error={error} back={BACK} />;
  const { execution, contents, steps } = data;
  const advice = adviceFor(execution);
  return (
    <Page back={BACK} title={execution.tool_name} lead={<code>{execution.id}</code>}>
      <Card title="Outcome">
        <Facts
          rows={[
            ['Status', <Status key="status" value={execution.status} />],
            [
              'Error',
              execution.error_kind && (
                <span key="error">
                  {failureName(execution.error_kind)} <code className="muted">{execution.error_kind}</code>
                </span>
              ),
            ],
            ['HTTP status', execution.upstream_status ?? ''],
            ['Started', <Time key="started" value={execution.started_at} />],
            ['Ended', <Time key="ended" value={execution.finished_at} />],
            ['Duration', formatMs(execution.duration_ms)],
            [
              'Tool',
              WITHOUT_TOOL.has(execution.tool_name) ? (
                execution.tool_name
              ) : (
                <Link key="tool" to="/tools/$name" params={{ name: execution.tool_name }}>
                  <Breakable text={execution.tool_name} />
                </Link>
              ),
            ],
            [
              'Account',
              execution.connected_account_id && (
                <Link key="account" to="/accounts/$id" params={{ id: execution.connected_account_id }}>
                  <code>{execution.connected_account_id}</code>
                </Link>
              ),
            ],
            ['Caller', execution.api_client_id],
            ['Agent run', execution.agent_run_id ?? ''],
          ]}
        />
        {advice && <p className="advice">{advice}</p>}
      </Card>
      {contents && <ExecutionSteps execution={execution} steps={steps} />}
      {contents ? (
        <div className="columns">
          <Card title="Request, with secrets masked">
            <Json value={contents.request} label="Request" />
          </Card>
          <Card title="Response">
            <Json value={contents.response} label="Response" />
          </Card>
        </div>
      ) : (
        <ExecutionSpan execution={execution} steps={steps} />
      )}
    </Page>
  );
}
