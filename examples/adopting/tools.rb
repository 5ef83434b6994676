# frozen_string_literal: true

require 'open3'

# Tools of an oracle before the bridge: confined to its project, as tools of an agent are.
class ProjectTools
  def initialize(root)
    @root = File.realpath(root)
  end

  def call(name, args)
    public_send(name, **args)
  rescue SystemCallError, ArgumentError => e
    { error: e.message }
  end

  def read_file(path:, offset: 1)
    lines = File.readlines(inside(path), encoding: 'UTF-8')
    { content: lines[(offset - 1)..].join, path: path, range: [offset, lines.length] }
  end

  def file_overview(path:)
    text = File.read(inside(path), encoding: 'UTF-8')
    { path: path, lines: text.count("\n"), symbols: text.scan(/^\s*(?:class|def|module) (\S+)/).flatten }
  end

  def run_command(command:)
    output, status = Open3.capture2e(command, chdir: @root)
    { result: output, exit_status: status.exitstatus, cwd: @root }
  end

  def view_image(path:)
    image = { type: 'image', mimeType: 'image/png', data: [File.binread(inside(path))].pack('m0') }
    { content: [{ type: 'text', text: path }, image] }
  end

  private

  def inside(path)
    full = File.expand_path(path, @root)
    raise ArgumentError, "Denied path: #{path}" unless full.start_with?("#{@root}/")

    full
  end
end
