/** GraphQL queries of an organization's and a cluster's configuration: as in REST, as connections and lists. */
import { listMembers } from '@holdfast/database/queries/members.js';
import { listOrganizations, listProjects } from '@holdfast/database/queries/tenancy.js';
import { findTokenById, listTokens } from '@holdfast/database/queries/tokens.js';
import { listWebhooks } from '@holdfast/database/queries/webhooks.js';
import { GraphQLID, GraphQLList, GraphQLNonNull, GraphQLString } from 'graphql';
import { z } from 'zod';
import { alertSchema, alertView, silenceSchema, silenceView } from '../resources/alerts/alert.schemas.js';
import { readAlerts } from '../resources/alerts/alerts.controller.js';
import { readSilences } from '../resources/alerts/silences.controller.js';
import { ClusterPath } from '../resources/clusters/cluster.schemas.js';
import { TokenPath, tokenSchema } from '../resources/sessions/session.schemas.js';
import { ownerFor, tokenView } from '../resources/sessions/tokens.controller.js';
import { readSetting, readSettings } from '../resources/settings/read-settings.js';
import { PutSettingBody, SettingPath, settingSchema } from '../resources/settings/setting.schemas.js';
import { resetSetting, setSetting } from '../resources/settings/write-setting.js';
import { permissionsView } from '../resources/tenancy/permissions.controller.js';
import { quotaSchema, quotaView } from '../resources/tenancy/quota.schemas.js';
import { readProjectQuota } from '../resources/tenancy/quotas.controller.js';
import {
  accessSchema,
  memberSchema,
  organizationSchema,
  PermissionsQuery,
  ProjectPath,
  projectSchema,
} from '../resources/tenancy/tenancy.schemas.js';
import { memberView, namedView } from '../resources/tenancy/tenancy.view.js';
import { WebhookPath, webhookSchema, webhookView } from '../resources/webhooks/webhook.schemas.js';
import { requireWebhook } from '../resources/webhooks/webhooks.controller.js';
import { type Fields, field, ids, listField, nothingThere, tenantListField, withInput } from './fields.js';
import type { GraphqlTypes } from './zod-to-graphql.js';

export function tenancyQueries(types: GraphqlTypes): Fields {
  return {
    organizations: tenantListField(types.object(organizationSchema), {
      access: 'organization:read',
      list: (tenant, request) => tenant.read((sql) => listOrganizations(sql, request)),
      view: namedView,
    }),
    projects: tenantListField(types.object(projectSchema), {
      access: 'project:read',
      list: (tenant, request) => tenant.read((sql) => listProjects(sql, request)),
      view: namedView,
    }),
    permissions: field(new GraphQLList(new GraphQLNonNull(types.object(accessSchema))), {
      access: 'organization:read',
      args: { action: { type: GraphQLString }, projectId: { type: GraphQLID } },
      schema: PermissionsQuery.schema,
      resolve: (tenant, query) => permissionsView(tenant.actor, query).permissions,
    }),
    projectQuota: field(types.object(quotaSchema), {
      access: 'quota:read',
      args: ids('projectId'),
      schema: ProjectPath.schema,
      resolve: async (tenant, { projectId }) => quotaView(await readProjectQuota(tenant, projectId)),
    }),
    members: tenantListField(types.object(memberSchema), {
      access: 'member:read',
      list: (tenant, request) => tenant.read((sql) => listMembers(sql, request)),
      view: memberView,
    }),
    tokens: tenantListField(types.object(tokenSchema), {
      access: 'token:own',
      list: (tenant, request) => tenant.read((sql) => listTokens(sql, ownerFor(tenant), request)),
      view: tokenView,
    }),
    webhooks: tenantListField(types.object(webhookSchema), {
      access: 'webhook:read',
      list: (tenant, request) => tenant.read((sql) => listWebhooks(sql, request)),
      view: webhookView,
    }),
    webhook: field(types.object(webhookSchema), {
      access: 'webhook:read',
      args: ids('webhookId'),
      schema: WebhookPath.schema,
      resolve: async (tenant, { webhookId }) =>
        webhookView(await tenant.read((sql) => requireWebhook(sql, webhookId))),
    }),
    token: field(types.object(tokenSchema), {
      access: 'token:own',
      args: ids('tokenId'),
      schema: TokenPath.schema,
      resolve: async (tenant, { tokenId }) => {
        const found = await tenant.read((sql) => findTokenById(sql, ownerFor(tenant), tokenId));
        if (found === undefined) throw nothingThere();
        return tokenView(found);
      },
    }),
  };
}

export function alertQueries(types: GraphqlTypes): Fields {
  return {
    alerts: listField(types.object(alertSchema), {
      access: 'alert:read',
      list: (tenant, { clusterId }, request) => readAlerts(tenant, clusterId, request),
      view: alertView,
    }),
    silences: listField(types.object(silenceSchema), {
      access: 'alert:read',
      list: (tenant, { clusterId }, request) => readSilences(tenant, clusterId, request),
      view: silenceView,
    }),
  };
}

export function settingQueries(types: GraphqlTypes): Fields {
  const setting = types.object(settingSchema);
  return {
    settings: field(new GraphQLList(new GraphQLNonNull(setting)), {
      access: 'setting:read',
      args: ids('clusterId'),
      schema: ClusterPath.schema,
      resolve: (tenant, { clusterId }) => readSettings(tenant, clusterId),
    }),
    setting: field(setting, {
      access: 'setting:read',
      args: { ...ids('clusterId'), name: { type: new GraphQLNonNull(GraphQLString) } },
      schema: SettingPath.schema,
      resolve: (tenant, { clusterId, name }) => readSetting(tenant, clusterId, name),
    }),
  };
}

export function settingMutations(types: GraphqlTypes): Fields {
  const setting = types.object(settingSchema);
  const access = 'setting:write' as const;
  const name = { name: { type: new GraphQLNonNull(GraphQLString) } };
  return {
    setSetting: field(setting, {
      access,
      args: { ...withInput(types.input(PutSettingBody.schema, 'SettingInput'), 'clusterId'), ...name },
      schema: z.object({ ...SettingPath.schema.shape, input: PutSettingBody.schema }),
      resolve: (tenant, { input, ...path }) => setSetting(tenant, path, input.value),
    }),
    resetSetting: field(setting, {
      access,
      args: { ...ids('clusterId'), ...name },
      schema: SettingPath.schema,
      resolve: (tenant, path) => resetSetting(tenant, path),
    }),
  };
}
