import type { OutboundRequest } from '../tools/execute.ts';
import type { WarehouseTarget } from './warehouse-target.ts';

/** The service that calls to a data warehouse are signed for. */
export const WAREHOUSE_SERVICE = 'redshift-data';

export interface Statement {
  sql: string;
  /** Values for the names that stand in the text as `:name`. */
  parameters?: Readonly<Record<string, string>>;
  /** Sent again with the same token, a statement runs once. At most 64 characters. */
  clientToken: string;
}

/** Gives a statement to the warehouse, which answers with an id and runs it afterwards. */
export function executeStatement(endpoint: URL, target: WarehouseTarget, statement: Statement): OutboundRequest {
  const { sql, clientToken } = statement;
  const parameters = Object.entries(statement.parameters ?? {}).map(([name, value]) => ({ name, value }));
  const place =
    'workgroupName' in target
      ? { WorkgroupName: target.workgroupName }
      : { ClusterIdentifier: target.clusterIdentifier, DbUser: target.dbUser };
  return call(endpoint, 'ExecuteStatement', {
    ...place,
    Database: target.database,
    Sql: sql,
    ...(parameters.length > 0 && { Parameters: parameters }),
    ClientToken: clientToken,
  });
}

/** Asks how far a statement is. */
export function describeStatement(endpoint: URL, id: string): OutboundRequest {
  return call(endpoint, 'DescribeStatement', { Id: id });
}

/**
 * Asks for a page of the rows of a statement that has finished.
 *
 * @param nextToken of the page before; none for the first
 */
export function getStatementResult(endpoint: URL, id: string, nextToken?: string): OutboundRequest {
  return call(endpoint, 'GetStatementResult', { Id: id, ...(nextToken !== undefined && { NextToken: nextToken }) });
}

/** AWS JSON 1.1: the operation stands in a header. */
function call(endpoint: URL, operation: string, input: object): OutboundRequest {
  return {
    method: 'POST',
    url: endpoint.href,
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `RedshiftData.${operation}` },
    body: JSON.stringify(input),
  };
}
