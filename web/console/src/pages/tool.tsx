import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ApiProblem, api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { Breakable } from '../ui/breakable.tsx';
import { FailedPage } from '../ui/failed-page.tsx';
import { Card, Facts, Json, Loading, Page } from '../ui/parts.tsx';
import { Playground } from './playground.tsx';
import { Hints } from './tools.tsx';
import { UnknownTool } from './unknown-tool.tsx';

const BACK = { to: '/tools', label: 'All tools' } as const;

export function ToolPage() {
  const { name } = useParams({ strict: false }) as { name: string };
  const { data, error, isPending } = useQuery({
    queryKey: ['tools', 'one', name],
    queryFn: () => take(api.GET('/api/v1/tools/{tool_name}', { params: { path: { tool_name: name } } })),
  });
  if (isPending) return <Loading />;
  if (error instanceof ApiProblem && error.status === 404) return <UnknownTool name={name} />;
  if (error) return <FailedPage title={name} error={error} back={BACK} />;
  const tool = data.tool as Schemas['Tool'];
  return (
    <Page
      back={BACK}
      title={tool.title}
      lead={
        <code>
          <Breakable text={tool.name} />
        </code>
      }
      actions={
        <>
          <Hints hints={tool.hints} />
          <Link className="button plain" to="/overlays/$name" params={{ name }}>
            {may('tools:write') ? 'Restrict' : 'Overlay'}
          </Link>
        </>
      }
    >
      <p>{tool.description}</p>
      <Playground key={name} tool={tool} example={data.examples?.[0]?.input ?? {}} />
      <Card title="Definition">
        <Facts
          rows={[
            ['Connector', tool.connector],
            ['Tags', tool.tags.join(', ')],
            ['Scopes', tool.scopes.map((set) => set.join(' + ')).join(' or ')],
            ['Paginated', tool.paginated ? 'The result has pages: pass next_cursor, or set all_pages.' : ''],
          ]}
        />
        <div className="columns">
          <div className="stack">
            <h3>Input schema</h3>
            <Json value={tool.input_schema} label="Input schema" />
          </div>
          <div className="stack">
            <h3>Output schema</h3>
            <Json value={tool.output_schema} label="Output schema" />
          </div>
        </div>
      </Card>
    </Page>
  );
}
