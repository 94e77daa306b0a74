import type { AccountInputs } from '../connectors/account-value.ts';
import { ApiError, type FieldError } from '../errors.ts';

/**
 * The data warehouse that runs the SQL statements of an account: a database in a provisioned cluster, with the database
 * user `dbUser`, or a database in a serverless workgroup. A workgroup derives the database user from the cloud
 * credentials of the request.
 */
export type WarehouseTarget =
  | { database: string; clusterIdentifier: string; dbUser: string }
  | { database: string; workgroupName: string };

/**
 * Reads the data warehouse of an account from its API configuration.
 *
 * @param apiConfig must contain `database`, and either `cluster_identifier` or `workgroup_name`
 * @param dbUser the database user in the account's details; required for a cluster, ignored for a workgroup
 * @throws ApiError INVALID_API_CONFIG if a name is missing or both a cluster and a workgroup are given;
 * INVALID_AUTHORIZATION_DETAILS if the database user of a cluster is missing
 */
export function warehouseTarget(apiConfig: Readonly<Record<string, unknown>>, dbUser: string | null): WarehouseTarget {
  const database = textIn(apiConfig, 'database');
  const clusterIdentifier = textIn(apiConfig, 'cluster_identifier');
  const workgroupName = textIn(apiConfig, 'workgroup_name');
  const errors: FieldError[] = [];
  if (database === '') errors.push({ field: field('database'), message: 'is required: the name of a database' });
  if (clusterIdentifier === '' && workgroupName === '') {
    errors.push({
      field: field('cluster_identifier'),
      message: 'is required, or workgroup_name for a serverless workgroup',
    });
  }
  if (clusterIdentifier !== '' && workgroupName !== '') {
    errors.push({ field: field('workgroup_name'), message: 'cannot be combined with cluster_identifier' });
  }
  if (errors.length > 0)
    throw new ApiError('INVALID_API_CONFIG', 'The account must name a database and either a cluster or a workgroup.', {
      errors,
    });
  if (workgroupName !== '') return { database, workgroupName };
  if (dbUser === null || dbUser === '') {
    throw new ApiError('INVALID_AUTHORIZATION_DETAILS', 'The account has no db_user for its cluster.', {
      errors: [
        {
          field: 'connected_account.authorization_details.trusted_idp.db_user',
          message: 'is required for a provisioned cluster',
        },
      ],
    });
  }
  return { database, clusterIdentifier, dbUser };
}

/**
 * Returns the input values for requests to an account's warehouse. Of the cluster, the workgroup and the database user,
 * they contain only those of the validated target, so that requests cannot select another target.
 *
 * @throws ApiError as `warehouseTarget`
 */
export function warehouseInputs(inputs: AccountInputs, dbUser: string | null): AccountInputs {
  const { cluster_identifier: _cluster, workgroup_name: _workgroup, db_user: _user, ...others } = inputs;
  const target = warehouseTarget(inputs, dbUser);
  const { database } = target;
  if ('workgroupName' in target) return { ...others, database, workgroup_name: target.workgroupName };
  return { ...others, database, cluster_identifier: target.clusterIdentifier, db_user: target.dbUser };
}

function field(name: string): string {
  return `connected_account.api_config.${name}`;
}

function textIn(apiConfig: Readonly<Record<string, unknown>>, name: string): string {
  const value = Object.hasOwn(apiConfig, name) ? apiConfig[name] : undefined;
  return typeof value === 'string' ? value.trim() : '';
}
