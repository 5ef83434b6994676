# frozen_string_literal: true

module RindBridge
  # How a worker is started: its argument array and its environment. Never through a shell.
  class Launch
    COMMAND_VARIABLE = 'RIND_BRIDGE_COMMAND'
    DEFAULT_COMMAND = %w[rind-bridge serve].freeze
    # Where pipx, uv and Homebrew put programs, for an oracle whose PATH lacks them (an app bundle has none at all).
    PROGRAM_FOLDERS = %w[~/.local/bin /opt/homebrew/bin /usr/local/bin /usr/bin].freeze
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
      settings = { 'RIND_BRIDGE_HOME' => home&.to_s, 'RIND_BRIDGE_STRUCTURAL_TOOLS' => names(structural_tools) }.compact
      @environment = passed_on.merge(settings, env.to_h { |name, value| [name.to_s, value&.to_s] }).compact.freeze
      @chdir = chdir
    end

    # Returns the names in the worker's RIND_BRIDGE_STRUCTURAL_TOOLS, nil when nobody set it.
    def structural_tools
      @environment['RIND_BRIDGE_STRUCTURAL_TOOLS']&.split(SEPARATOR)&.map(&:strip)&.reject(&:empty?)
    end

    # Returns the program and its arguments. Raises Unavailable for a command that is none: what is in the
    # environment must not break a turn, so it counts as a worker that cannot be started.
    def argv
      argv = @command.is_a?(String) ? Shellwords.split(@command) : Array(@command).map(&:to_s)
      raise Unavailable, 'the worker command is empty; leave it out to run rind-bridge serve' if argv.empty?

      argv
    rescue ArgumentError => e
      raise Unavailable, "the worker command cannot be split into words: #{e.message}"
    end

    # Returns the path of the program: a name is looked up on the PATH, then in PROGRAM_FOLDERS; "~" is the home
    # directory. Raises Unavailable when there is no such program, and ArgumentError for a "~" of nobody.
    def program
      name = argv.first
      return File.expand_path(name) if name.start_with?('~')
      return name if name.include?('/')

      folders = [*@environment['PATH']&.split(File::PATH_SEPARATOR)&.reject(&:empty?), *PROGRAM_FOLDERS]
      folders.map { |folder| File.join(File.expand_path(folder), name) }.find { |path| program?(path) } ||
        raise(Unavailable, "the worker cannot be started: No such file or directory - #{name}, neither on the PATH " \
                           "nor in #{PROGRAM_FOLDERS.join(', ')}; install it, or give its absolute path as " \
                           "#{COMMAND_VARIABLE} or command:")
    end

    private

    def program?(path) = File.file?(path) && File.executable?(path)

    def passed_on
      ENV.to_h.select { |name, _| PASSED_ON.include?(name) || name.start_with?(*PASSED_ON_PREFIXES) }
    end

    def names(structural_tools)
      return if structural_tools.nil?

      names = Array(structural_tools).map(&:to_s)
      torn = names.find { |name| name.include?(SEPARATOR) }
      return names.join(SEPARATOR) unless torn

      raise InvalidSetting, "structural_tools: #{torn.inspect} has a comma, and no name has; give an Array of names"
    end
  end
end
