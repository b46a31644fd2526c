"""LATER: keys whose feature is not built yet, dotted, `*` for any name: understood, kept, not used."""

_NAMES = """
_config_version auxiliary bedrock browser checkpoints code_execution compression computer_use context
context_file_max_chars credential_pool_quota_aware credential_pool_strategies cron curator custom_providers
dashboard delegation desktop discord email file_read_max_chars gateway goals group_sessions_per_user honcho
hooks hooks_auto_accept human_delay image_gen kanban known_plugin_toolsets learning logging lsp matrix
mattermost max_concurrent_sessions max_live_sessions mcp mcp_discovery_timeout mcp_servers memory moa
model_catalog multiplex_profiles network onboarding openrouter paste_collapse_char_threshold
paste_collapse_threshold paste_collapse_threshold_fallback personalities platform_hints platform_toolsets
platforms plugins prefill_messages_file privacy profile_routes quick_commands require_mention reset_triggers
secrets security session_reset session_store_max_age_days sessions signal skills slack smart_model_routing
stt stt_echo_transcripts stt_enabled telegram thread_sessions_per_user timezone tool_output tools
toolsets tts unauthorized_dm_behavior updates vertex video_gen voice web whatsapp worktree x_search
agent.budget_warning_ratio agent.coding_context agent.coding_instructions agent.disabled_toolsets
agent.environment_hint agent.environment_probe agent.gateway_auto_continue_freshness
agent.gateway_notify_interval agent.gateway_timeout agent.gateway_timeout_warning agent.image_input_mode
agent.intent_ack_continuation agent.local_stream_stale_timeout agent.max_verify_nudges
agent.parallel_tool_call_guidance agent.personalities agent.reasoning_echo agent.reasoning_overrides
agent.restart_drain_timeout agent.run_budget_seconds agent.service_tier agent.stall_guards
agent.system_prompt agent.task_completion_guidance agent.tool_use_enforcement agent.turn_liveness
agent.verify_guidance agent.verify_on_stop
approvals.cron_mode approvals.destructive_slash_confirm approvals.mcp_reload_confirm
approvals.single_query_mode approvals.unattended_mode
display.background_process_notifications display.bell_on_complete display.busy_ack_enabled
display.busy_input_mode display.busy_steer_ack_enabled display.cli_refresh_interval display.compact
display.copy_shortcut display.credits_notices display.ephemeral_system_ttl display.file_mutation_verifier
display.final_response_markdown display.friendly_tool_labels display.inline_diffs display.interface
display.interim_assistant_messages display.language display.memory_notifications display.persist_prompts
display.persistent_output display.personality display.pet display.platforms display.reasoning_full
display.reasoning_style display.resume_display display.runtime_footer display.show_cost display.skin
display.streaming display.timestamp_format display.timestamps display.tool_preview_length
display.tool_progress_command display.tool_progress_grouping display.tui_auto_resume_recent
display.tui_status_indicator display.turn_completion_explainer display.user_message_preview
fallback_providers.*.api_key_env fallback_providers.*.reasoning_echo
model.aliases model.ollama_num_ctx model.openai_runtime
providers.*.extra_body providers.*.models providers.*.model providers.*.name
streaming.fresh_final_after_seconds
terminal.auto_source_bashrc terminal.container_cpu terminal.container_disk terminal.container_memory
terminal.container_persistent terminal.credential_files terminal.daemon_term_grace_seconds
terminal.daytona_image terminal.degraded_mode terminal.docker_env terminal.docker_extra_args
terminal.docker_forward_env terminal.docker_image terminal.docker_mount_cwd_to_workspace
terminal.docker_network terminal.docker_orphan_reaper terminal.docker_persist_across_processes
terminal.docker_run_as_host_user terminal.docker_shared_container_key terminal.docker_shm_size
terminal.docker_snap_compat terminal.docker_volumes terminal.home_mode terminal.lifetime_seconds
terminal.modal_image terminal.modal_mode terminal.oneshot_completion_wait_seconds terminal.persistent_shell
terminal.shell_init_files terminal.singularity_image terminal.ssh_host terminal.ssh_key terminal.ssh_port
terminal.ssh_user terminal.temp_dir terminal.vercel_runtime
"""

# Keys the schema has already, so that their values are checked, although nothing reads them yet.
# Whoever makes one count takes it off this list.
_TYPED = """
tool_loop_guardrails streaming agent.reasoning_effort
"""

TYPED_PATHS = tuple(tuple(name.split(".")) for name in _TYPED.split())

LATER = frozenset((*_NAMES.split(), *_TYPED.split()))
