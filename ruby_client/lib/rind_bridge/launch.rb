# frozen_string_literal: true

require 'shellwords'
require_relative 'errors'

module RindBridge
  # How a worker is started: its argument array and its environment. Never through a shell.
  class Launch
    COMMAND_VARIABLE = 'RIND_BRIDGE_COMMAND'
    DEFAULT_COMMAND = %w[rind-bridge serve].freeze
    # What a Python program needs to run and to find its files and its language. Keys and tokens of the
    # oracle's own environment are not among them; the caller names what else is wanted in +env+.
    PASSED_ON = %w[PATH HOME USER LANG LANGUAGE TZ TMPDIR XDG_DATA_HOME SSL_CERT_FILE].freeze
    PASSED_ON_PREFIXES = %w[LC_ RIND_BRIDGE_].freeze

    # Between the names in RIND_BRIDGE_STRUCTURAL_TOOLS.
    SEPARATOR = ','

    attr_reader :environment, :chdir

    # +command+ is an Array of arguments, or a String split like a shell's words; nil means RIND_BRIDGE_COMMAND,
    # else +rind-bridge serve+ on the PATH. +home+ is where outputs and ledger live. +structural_tools+ is an Array
    # of names, or one name. +env+ are further variables (nil takes one away). +chdir+ is the worker's working
    # directory. Raises InvalidSetting.
    def initialize(command: nil, home: nil, structural_tools: nil, env: {}, chdir: nil)
      @command = command || ENV[COMMAND_VARIABLE] || DEFAULT_COMMAND
      @environment = passed_on.merge(settings(home, structural_tools), texts(env)).compact.freeze
      @chdir = chdir
    end

    # Gives the names in the worker's RIND_BRIDGE_STRUCTURAL_TOOLS, nil when nobody set it.
    def structural_tools
      @environment['RIND_BRIDGE_STRUCTURAL_TOOLS']&.split(SEPARATOR)&.map(&:strip)&.reject(&:empty?)
    end

    # Gives the program and its arguments. Raises Unavailable for a command that is none: what is in the
    # environment must not break a turn, so it counts as a worker that cannot be started.
    def argv
      argv = @command.is_a?(String) ? Shellwords.split(@command) : Array(@command).map(&:to_s)
      raise Unavailable, 'the worker command is empty; leave it out to run rind-bridge serve' if argv.empty?

      argv
    rescue ArgumentError => e
      raise Unavailable, "the worker command cannot be split into words: #{e.message}"
    end

    private

    def passed_on
      ENV.to_h.select { |name, _| PASSED_ON.include?(name) || name.start_with?(*PASSED_ON_PREFIXES) }
    end

    def settings(home, structural_tools)
      {
        'RIND_BRIDGE_HOME' => home&.to_s,
        'RIND_BRIDGE_STRUCTURAL_TOOLS' => structural_tools && names(structural_tools).join(SEPARATOR)
      }.compact
    end

    def names(structural_tools)
      names = Array(structural_tools).map(&:to_s)
      torn = names.find { |name| name.include?(SEPARATOR) }
      return names unless torn

      raise InvalidSetting, "structural_tools: #{torn.inspect} has a comma, and no name has; give an Array of names"
    end

    def texts(env)
      env.to_h { |name, value| [name.to_s, value&.to_s] }
    end
  end
end
