# frozen_string_literal: true

require_relative 'lib/rind_bridge/version'

Gem::Specification.new do |spec|
  spec.name = 'rind_bridge'
  spec.version = RindBridge::VERSION
  spec.summary = 'Bounds each tool result for the model, keeps the rest on disk, and shows a preview in the panel'
  spec.description = 'Spawns the rind-bridge worker, completes tools through it, and answers in Ruby alone when no ' \
                     'worker does.'
  spec.authors = ['The rind-bridge maintainers']
  spec.license = 'MIT'
  # docs/ruby.md says on which versions the tests have run.
  spec.required_ruby_version = '>= 3.1'
  spec.files = Dir.chdir(__dir__) { Dir['lib/**/*.rb', 'sig/**/*.rbs', 'LICENSE', 'README.md'] }
  spec.require_paths = ['lib']
  spec.metadata['rubygems_mfa_required'] = 'true'
end
